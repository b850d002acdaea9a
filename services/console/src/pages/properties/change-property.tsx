import { ApiError } from "@signalbox/client";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Failure } from "../../parts/answer.tsx";
import { Button } from "../../parts/button.tsx";
import { Conflict } from "../../parts/conflict.tsx";
import { submits, Undo, useChange } from "../../parts/dialog.tsx";
import { fieldsOf, SelectField, TextArea, TextField } from "../../parts/fields.tsx";
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
  const submit = submits(() => {
    setTried(property.overrides);
    dryRun.mutate();
  });
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
        <div role="status">{dryRun.data && <p>{previewText(property, typed, seen, isProposed)}</p>}</div>
        <div className={parts.row}>
          <button type="submit" disabled={dryRun.isPending}>
            Try it first
          </button>
          {dryRun.data && !hasChanged && (
            <Button
              label={isProposed ? "Propose it" : typed.isSet ? "Set it" : "Remove the override"}
              className="main"
              disabled={change.isPending}
              onClick={() => change.mutate(seen)}
            />
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

function previewText(property: Property, { isSet, text }: Typed, before: Override | undefined, isProposed: boolean) {
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
  const field = fieldsOf(typed, set);
  return (
    <>
      <div className={parts.filters}>
        <SelectField
          label="For"
          choices={[[name, "every service"], ...services.map((one) => [`${one}.${name}`, `${one} alone`] as const)]}
          {...field("name")}
        />
        <SelectField
          label="Do"
          choices={[
            ["set", "set a value"],
            ["unset", "remove the override"],
          ]}
          value={typed.isSet ? "set" : "unset"}
          set={(chosen) => set({ isSet: chosen === "set" })}
        />
        <TextField label="For hours" type="number" min={1} placeholder="without an end" {...field("hours")} />
      </div>
      {typed.isSet && <ValueField property={property} typed={typed} set={set} />}
      <TextField label="Reason" hint="It stands in the history." required maxLength={1_000} {...field("reason")} />
    </>
  );
}

function ValueField({ property, typed, set }: FieldsProps) {
  const choices = property.type === "boolean" ? ["true", "false"] : property.bounds.choices;
  const { text } = typed;
  const shared = { label: "Value", hint: boundsText(property, property.unit), ...fieldsOf(typed, set)("text") };
  if (property.type === "list") return <TextArea {...shared} spellCheck={false} rows={4} />;
  if (!choices) return <TextField {...shared} spellCheck={false} />;
  const unknown = choices.includes(text) ? [] : [[text, text || "none"] as const];
  return <SelectField {...shared} choices={[...unknown, ...choices]} />;
}
