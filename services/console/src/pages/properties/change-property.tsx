import { useState } from "react";
import { Conflict } from "../../parts/conflict.tsx";
import { Undo } from "../../parts/dialog.tsx";
import { Fields } from "../../parts/form.tsx";
import { Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { TrialForm, useTrial } from "../../parts/trial.tsx";
import { type Override, type Property, valueText } from "../configuration.ts";
import { ProposalLink } from "../links.tsx";
import { ChangeResults } from "./change-results.tsx";
import { changeProperty, proposeChange, type WantedChange } from "./property-change.ts";
import { boundsText, inputText, readValue } from "./property-value.ts";

interface Typed {
  /** The bare name, or the name for one service. */
  readonly name: string;
  readonly does: "set" | "unset";
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
  const trial = useTrial(
    () => {
      setTried(property.overrides);
      return send(wantedOf(property, typed, now?.revision), true);
    },
    async (on: Override | undefined) => ({
      ...(await send(wantedOf(property, typed, on?.revision), false)),
      before: on,
    }),
    ({ revision, before }) => {
      setUndo(isProposed ? null : undoOf(typed, before, revision));
      setTried(null);
    },
  );
  const set = (changed: Partial<Typed>) => {
    setTyped({ ...typed, ...changed });
    // Another question is about the overrides of now.
    setTried(null);
    trial.reset();
  };
  return (
    <Panel title={isProposed ? "Propose a change" : "Change it"}>
      {isProposed && (
        <p>A change of it needs a second operator. You propose it with a reason, and another one decides.</p>
      )}
      <TrialForm
        trial={trial}
        what="property"
        makeLabel={isProposed ? "Propose it" : typed.does === "set" ? "Set it" : "Remove the override"}
        onMake={() => trial.make(seen)}
        preview={trial.tried && <p>{previewText(property, typed, seen, isProposed)}</p>}
      >
        <ChangeFields property={property} typed={typed} set={set} />
      </TrialForm>
      {trial.made && <ChangeResults results={trial.made.results} />}
      {trial.made?.proposal && (
        <p role="status">
          It is proposed. <ProposalLink id={trial.made.proposal}>See the proposal</ProposalLink>, or send its address to
          another operator.
        </p>
      )}
      {undo && <Undo what="property" run={() => changeProperty(undo, false)} onDone={() => setUndo(null)} />}
      {trial.hasChanged && (
        <Conflict
          what="property"
          differences={[
            {
              name: typed.name,
              mine: typed.does === "set" ? typed.text : "not overridden",
              theirs: now ? `${valueText(now)}, because: ${now.reason ?? "–"}` : "not overridden",
            },
          ]}
          onMine={() => trial.make(now)}
          onBack={trial.reset}
          onTheirs={() => set({ text: inputText(now?.value ?? property.value), does: "set" })}
        />
      )}
    </Panel>
  );
}

const startOf = ({ name, value }: Property): Typed => ({
  name,
  does: "set",
  text: inputText(value),
  reason: "",
  hours: "",
});

/** @throws Error for a value that cannot be one */
function wantedOf(property: Property, { name, does, text, reason, hours }: Typed, revision = "0"): WantedChange {
  const expiresAt = hours === "" ? null : new Date(Date.now() + Number(hours) * 3_600_000).toISOString();
  const state = does === "set" ? { value: readValue(text, property) } : { unset: true };
  return { change: { name, expectedRevision: revision, ...state }, reason: reason.trim(), expiresAt };
}

/** Builds the change that takes this one back; null where the value before is not shown to this person. */
function undoOf(
  { name, does, reason }: Typed,
  before: Override | undefined,
  revision: string | null,
): WantedChange | null {
  if (before?.masked) return null;
  const state = before ? { value: before.value } : { unset: true };
  return {
    change: { name, expectedRevision: does === "set" ? (revision ?? "0") : "0", ...state },
    reason: `Undone: ${reason.trim()}`,
    expiresAt: before?.expiresAt ?? null,
  };
}

function previewText(property: Property, { does, text }: Typed, before: Override | undefined, isProposed: boolean) {
  const from = before ? valueText(before) : `${valueText(property)} (${property.source ?? "not reported"})`;
  const to = does === "set" ? text.trim() || "none" : "the value below the overrides";
  const when = property.reload === "live" ? "at once" : "from the next start of each instance on";
  const condition = isProposed ? " Once it is approved, the" : " The";
  return `It is allowed.${condition} value would go from ${from} to ${to}, and hold ${when}.`;
}

interface FieldsProps {
  readonly property: Property;
  readonly typed: Typed;
  readonly set: (changed: Partial<Typed>) => void;
}

function ChangeFields({ property, typed, set }: FieldsProps) {
  const { name, services, type, bounds, unit } = property;
  const choices = type === "boolean" ? ["true", "false"] : bounds.choices;
  return (
    <>
      <div className={parts.filters}>
        <Fields
          input={typed}
          set={set}
          fields={{
            name: {
              label: "For",
              choices: [[name, "every service"], ...services.map((one) => [`${one}.${name}`, `${one} alone`] as const)],
            },
            does: {
              label: "Do",
              choices: [
                ["set", "set a value"],
                ["unset", "remove the override"],
              ],
            },
            hours: { label: "For hours", type: "number", min: 1, placeholder: "without an end" },
          }}
        />
      </div>
      <Fields
        input={typed}
        set={set}
        fields={{
          text: typed.does === "set" && {
            label: "Value",
            hint: boundsText(property, unit),
            ...(choices && { choices }),
            ...(type === "list" && { rows: 4 }),
          },
          reason: {
            label: "Reason",
            hint: "It stands in the history.",
            required: true,
            maxLength: 1_000,
            isProse: true,
          },
        }}
      />
    </>
  );
}
