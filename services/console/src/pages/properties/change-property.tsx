import { reasonField } from "../../parts/fields.tsx";
import { Fields } from "../../parts/form.tsx";
import { Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { TrialEditForm, useTrialEdit } from "../../parts/trial-edit.tsx";
import { type Override, type Property, valueText } from "../configuration.ts";
import { ProposalLink } from "../links.tsx";
import { ChangeResults } from "./change-results.tsx";
import { type Made as Change, changeProperty, proposeChange, type WantedChange } from "./property-change.ts";
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
  const edit = useTrialEdit({
    name: "property",
    initial: startOf(property),
    now: property.overrides,
    tryIt: (typed: Typed, on) => send(wantedOf(property, typed, overrideIn(on, typed)), true),
    make: (typed, on) => send(wantedOf(property, typed, overrideIn(on, typed)), false),
    onMade({ revision }, sent, on) {
      const undone = isProposed ? null : undoOf(sent, overrideIn(on, sent), revision);
      const takeBack = async () => {
        if (undone) await changeProperty(undone, false);
        return null;
      };
      return { next: { input: sent }, takeBack: undone && takeBack };
    },
  });
  const { input: typed, on, set, trial } = edit;
  const now = overrideIn(property.overrides, typed);
  return (
    <Panel title={isProposed ? "Propose a change" : "Change it"}>
      {isProposed && (
        <p>A change needs a second operator. You propose it with a reason, and another operator decides.</p>
      )}
      <TrialEditForm
        edit={edit}
        now={property.overrides}
        what="property"
        makeLabel={isProposed ? "Propose it" : typed.does === "set" ? "Set it" : "Remove the override"}
        preview={trial.tried && <p>{previewText(property, typed, overrideIn(on, typed), isProposed)}</p>}
        after={trial.made && <Made made={trial.made} />}
        differences={() => [
          {
            name: typed.name,
            mine: typed.does === "set" ? typed.text : "not overridden",
            theirs: now ? `${valueText(now)}, reason: ${now.reason ?? "–"}` : "not overridden",
          },
        ]}
        theirs={(): Typed => ({ ...typed, text: inputText(now?.value ?? property.value), does: "set" })}
      >
        <ChangeFields property={property} typed={typed} set={set} />
      </TrialEditForm>
    </Panel>
  );
}

const overrideIn = (overrides: Property["overrides"], { name }: Typed): Override | undefined =>
  overrides.find((override) => override.name === name);

/** The results of a change that was made, or the way to one that was proposed. */
const Made = ({ made: { results, proposal } }: { readonly made: Change }) => (
  <>
    <ChangeResults results={results} />
    {proposal && (
      <p role="status">
        Proposed. <ProposalLink id={proposal}>View the proposal</ProposalLink>, or send its address to another operator.
      </p>
    )}
  </>
);

const startOf = ({ name, value }: Property): Typed => ({
  name,
  does: "set",
  text: inputText(value),
  reason: "",
  hours: "",
});

/** @throws Error for a value that cannot be one */
function wantedOf(property: Property, { name, does, text, reason, hours }: Typed, seen?: Override): WantedChange {
  const expiresAt = hours === "" ? null : new Date(Date.now() + Number(hours) * 3_600_000).toISOString();
  const state = does === "set" ? { value: readValue(text, property) } : { unset: true };
  return { change: { name, expectedRevision: seen?.revision ?? "0", ...state }, reason: reason.trim(), expiresAt };
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
  const when = property.reload === "live" ? "at once" : "when each instance next starts";
  const condition = isProposed ? " Once it is approved, the" : " The";
  return `Allowed.${condition} value would change from ${from} to ${to} and apply ${when}.`;
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
              label: "Service",
              choices: [[name, "every service"], ...services.map((one) => [`${one}.${name}`, `${one} alone`] as const)],
            },
            does: {
              label: "Action",
              choices: [
                ["set", "set a value"],
                ["unset", "remove the override"],
              ],
            },
            hours: { label: "Expires after hours", type: "number", min: 1, placeholder: "never" },
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
          reason: reasonField("Shown in the history.", 1_000),
        }}
      />
    </>
  );
}
