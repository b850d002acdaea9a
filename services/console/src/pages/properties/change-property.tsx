import { ApiError } from "@signalbox/client";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { Failure } from "../../parts/answer.tsx";
import { Conflict } from "../../parts/conflict.tsx";
import { Undo, useChange } from "../../parts/dialog.tsx";
import { Field } from "../../parts/lists.tsx";
import { Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { type Override, type Property, valueText } from "../configuration.ts";
import { ChangeResults } from "./change-results.tsx";
import { changeProperty, proposeChange, type WantedChange } from "./property-change.ts";
import { boundsText, inputText, readValue } from "./property-value.ts";

interface Typed {
  /** The bare name, or the name for one service. */
  readonly name: string;
  readonly isSet: boolean;
  readonly text: string;
  readonly reason: string;
  readonly hours: string;
}

interface ChangeProps {
  readonly property: Property;
  /** True when another operator has to approve the change. */
  readonly isProposed: boolean;
}

/** Sets or unsets an override, or proposes that: tried first, then made, then undone if it was wrong. */
export function ChangeProperty({ property, isProposed }: ChangeProps) {
  const send = isProposed ? proposeChange : changeProperty;
  const [typed, setTyped] = useState<Typed>(() => startOf(property));
  /** The overrides as they were when the change was tried: one that comes between is a conflict. */
  const [tried, setTried] = useState<Property["overrides"] | null>(null);
  const [undo, setUndo] = useState<WantedChange | null>(null);
  const overrideIn = (overrides: Property["overrides"]) => overrides.find(({ name }) => name === typed.name);
  const now = overrideIn(property.overrides);
  const seen = tried === null ? now : overrideIn(tried);
  const dryRun = useChange(() => send(wantedOf(property, typed, now?.revision), true));
  const change = useChange(
    async (on: Override | undefined) => ({
      ...(await send(wantedOf(property, typed, on?.revision), false)),
      before: on,
    }),
    ({ revision, before }) => {
      setUndo(isProposed ? null : undoOf(typed, before, revision));
      setTried(null);
      dryRun.reset();
    },
  );
  const set = (changed: Partial<Typed>) => {
    setTyped({ ...typed, ...changed });
    // Another question has another answer, about the overrides of now.
    setTried(null);
    dryRun.reset();
    change.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(property.overrides);
    dryRun.mutate();
  };
  const error = change.error ?? dryRun.error;
  const hasChanged = error instanceof ApiError && error.status === 409;
  return (
    <Panel title={isProposed ? "Propose a change" : "Change it"}>
      {isProposed && (
        <p>A change of it needs a second operator. You propose it with a reason, and another one decides.</p>
      )}
      <form className={parts.page} onSubmit={submit}>
        <Fields property={property} typed={typed} set={set} />
        {error && !hasChanged && <Failure error={error} what="property" />}
        <div role="status">{dryRun.data && <p>{previewText(property, typed, { before: seen, isProposed })}</p>}</div>
        <div className={parts.row}>
          <button type="submit" disabled={dryRun.isPending}>
            Try it first
          </button>
          {dryRun.data && !hasChanged && (
            <button type="button" className="main" disabled={change.isPending} onClick={() => change.mutate(seen)}>
              {isProposed ? "Propose it" : typed.isSet ? "Set it" : "Remove the override"}
            </button>
          )}
        </div>
      </form>
      {change.data && <ChangeResults results={change.data.results} />}
      {change.data?.proposal && (
        <p role="status">
          It is proposed.{" "}
          <Link to="/proposals/$id" params={{ id: change.data.proposal }}>
            See the proposal
          </Link>
          , or send its address to another operator.
        </p>
      )}
      {undo && <Undo what="property" run={() => changeProperty(undo, false)} onDone={() => setUndo(null)} />}
      {hasChanged && (
        <Conflict
          what="property"
          differences={[
            {
              name: typed.name,
              mine: typed.isSet ? typed.text : "not overridden",
              theirs: now ? `${valueText(now)}, because: ${now.reason ?? "–"}` : "not overridden",
            },
          ]}
          onMine={() => change.mutate(now)}
          onTheirs={() => set({ text: inputText(now?.value ?? property.value), isSet: true })}
        />
      )}
    </Panel>
  );
}

const startOf = ({ name, value }: Property): Typed => ({
  name,
  isSet: true,
  text: inputText(value),
  reason: "",
  hours: "",
});

/** @throws Error for a value that cannot be one */
function wantedOf(property: Property, { name, isSet, text, reason, hours }: Typed, revision = "0"): WantedChange {
  const expiresAt = hours === "" ? null : new Date(Date.now() + Number(hours) * 3_600_000).toISOString();
  const state = isSet ? { value: readValue(text, property) } : { unset: true };
  return { change: { name, expectedRevision: revision, ...state }, reason: reason.trim(), expiresAt };
}

/** Builds the change that takes this one back; null where the value before is not shown to this person. */
function undoOf(
  { name, isSet, reason }: Typed,
  before: Override | undefined,
  revision: string | null,
): WantedChange | null {
  if (before?.masked) return null;
  const state = before ? { value: before.value } : { unset: true };
  return {
    change: { name, expectedRevision: isSet ? (revision ?? "0") : "0", ...state },
    reason: `Undone: ${reason.trim()}`,
    expiresAt: before?.expiresAt ?? null,
  };
}

interface PreviewOf {
  readonly before: Override | undefined;
  readonly isProposed: boolean;
}

function previewText(property: Property, { isSet, text }: Typed, { before, isProposed }: PreviewOf): string {
  const from = before ? valueText(before) : `${valueText(property)} (${property.source ?? "not reported"})`;
  const to = isSet ? text.trim() || "none" : "the value below the overrides";
  const when = property.reload === "live" ? "at once" : "from the next start of each instance on";
  const condition = isProposed ? " Once it is approved, the" : " The";
  return `It is allowed.${condition} value would go from ${from} to ${to}, and hold ${when}.`;
}

interface FieldsProps {
  readonly property: Property;
  readonly typed: Typed;
  readonly set: (changed: Partial<Typed>) => void;
}

function Fields({ property, typed, set }: FieldsProps) {
  const { name, services } = property;
  return (
    <>
      <div className={parts.filters}>
        <Field label="For">
          {(ids) => (
            <select {...ids} value={typed.name} onChange={({ target }) => set({ name: target.value })}>
              <option value={name}>every service</option>
              {services.map((service) => (
                <option key={service} value={`${service}.${name}`}>
                  {service} alone
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Do">
          {(ids) => (
            <select
              {...ids}
              value={typed.isSet ? "set" : "unset"}
              onChange={({ target }) => set({ isSet: target.value === "set" })}
            >
              <option value="set">set a value</option>
              <option value="unset">remove the override</option>
            </select>
          )}
        </Field>
        <Field label="For hours">
          {(ids) => (
            <input
              {...ids}
              type="number"
              min={1}
              placeholder="without an end"
              value={typed.hours}
              onChange={({ target }) => set({ hours: target.value })}
            />
          )}
        </Field>
      </div>
      {typed.isSet && <ValueField property={property} typed={typed} set={set} />}
      <Field label="Reason" hint="It stands in the history.">
        {(ids) => (
          <input
            {...ids}
            required
            maxLength={1_000}
            value={typed.reason}
            onChange={({ target }) => set({ reason: target.value })}
          />
        )}
      </Field>
    </>
  );
}

function ValueField({ property, typed: { text }, set }: FieldsProps) {
  const choices = property.type === "boolean" ? ["true", "false"] : property.bounds.choices;
  return (
    <Field label="Value" hint={boundsText(property, property.unit)}>
      {(ids) => {
        const shared = { ...ids, value: text, spellCheck: false };
        if (property.type === "list")
          return <textarea {...shared} rows={4} onChange={({ target }) => set({ text: target.value })} />;
        if (!choices) return <input {...shared} onChange={({ target }) => set({ text: target.value })} />;
        return (
          <select {...ids} value={text} onChange={({ target }) => set({ text: target.value })}>
            {!choices.includes(text) && <option value={text}>{text || "none"}</option>}
            {choices.map((choice) => (
              <option key={choice}>{choice}</option>
            ))}
          </select>
        );
      }}
    </Field>
  );
}
