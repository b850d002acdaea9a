import parts from "../../parts/parts.module.css";
import {
  type FlagInput,
  flagStates,
  flagTypes,
  newPrerequisite,
  newVariant,
  type PrerequisiteInput,
  type VariantInput,
} from "./flag-input.ts";
import styles from "./flags.module.css";
import { Group, SelectField, TextField } from "./form-parts.tsx";
import { RuleFields } from "./rule-fields.tsx";

interface FieldsProps {
  readonly input: FlagInput;
  readonly set: (changed: Partial<FlagInput>) => void;
}

/** The fields of a flag: what it gives, to whom, and until when. Key and type stay once it is added. */
export function FlagFields({ input, set, isNew }: FieldsProps & { readonly isNew: boolean }) {
  return (
    <>
      {isNew && (
        <div className={parts.fields}>
          <TextField label="Key" hint="Code asks for it by this name." value={input.key} set={(key) => set({ key })} />
          <SelectField
            label="Type"
            hint="It cannot change later."
            choices={flagTypes}
            value={input.type}
            set={(type) => set({ type })}
          />
        </div>
      )}
      <div className={parts.fields}>
        <SelectField
          label="State"
          choices={flagStates}
          value={input.state}
          set={(state) => set({ state: state as FlagInput["state"] })}
        />
        <TextField label="Owner" value={input.owner} set={(owner) => set({ owner })} />
        <TextField
          label="Decide until"
          type="date"
          hint="From then on it is listed as due."
          value={input.expires}
          set={(expires) => set({ expires })}
        />
      </div>
      <TextField label="Description" value={input.description} set={(description) => set({ description })} />
      <Variants input={input} set={set} />
      <RuleFields input={input} set={set} />
      <details>
        <summary>Schedule and other flags</summary>
        <div className={parts.page}>
          <Schedule input={input} set={set} />
          <Prerequisites input={input} set={set} />
        </div>
      </details>
    </>
  );
}

function Variants({ input: { variants, type, default: usual, off }, set }: FieldsProps) {
  const names = variants.map(({ name }) => name);
  const change = (row: string, changed: Partial<VariantInput>) =>
    set({ variants: variants.map((variant) => (variant.row === row ? { ...variant, ...changed } : variant)) });
  return (
    <Group legend="Variants">
      {variants.map(({ row, name, value }, at) => (
        <div key={row} className={parts.filters}>
          <TextField label={`Name of variant ${at + 1}`} value={name} set={(text) => change(row, { name: text })} />
          {type === "boolean" ? (
            <SelectField
              label={`Value of variant ${at + 1}`}
              choices={["true", "false"]}
              value={value}
              set={(text) => change(row, { value: text })}
            />
          ) : (
            <TextField
              label={`Value of variant ${at + 1}`}
              value={value}
              set={(text) => change(row, { value: text })}
            />
          )}
          <button
            type="button"
            className={styles.remove}
            aria-label={`Remove variant ${at + 1}`}
            onClick={() => set({ variants: variants.filter((variant) => variant.row !== row) })}
          >
            Remove
          </button>
        </div>
      ))}
      <div>
        <button type="button" onClick={() => set({ variants: [...variants, newVariant()] })}>
          Add a variant
        </button>
      </div>
      <div className={parts.fields}>
        <SelectField
          label="Everybody else gets"
          hint="Accounts that no rule matches."
          choices={names}
          value={usual}
          set={(variant) => set({ default: variant })}
        />
        <SelectField
          label="Switched off it gives"
          hint="While it is disabled or outside its schedule."
          choices={names}
          value={off}
          set={(variant) => set({ off: variant })}
        />
      </div>
    </Group>
  );
}

function Schedule({ input: { from, until }, set }: FieldsProps) {
  return (
    <Group legend="Schedule, in UTC">
      <div className={parts.fields}>
        <TextField label="From" type="datetime-local" value={from} set={(text) => set({ from: text })} />
        <TextField label="Until" type="datetime-local" value={until} set={(text) => set({ until: text })} />
      </div>
    </Group>
  );
}

function Prerequisites({ input: { prerequisites }, set }: FieldsProps) {
  const change = (row: string, changed: Partial<PrerequisiteInput>) =>
    set({ prerequisites: prerequisites.map((each) => (each.row === row ? { ...each, ...changed } : each)) });
  return (
    <Group legend="Only where other flags give">
      {prerequisites.map(({ row, flag, variants }, at) => (
        <div key={row} className={parts.filters}>
          <TextField label={`Other flag ${at + 1}`} value={flag} set={(text) => change(row, { flag: text })} />
          <TextField
            label={`Its variants ${at + 1}`}
            value={variants}
            set={(text) => change(row, { variants: text })}
          />
          <button
            type="button"
            className={styles.remove}
            aria-label={`Remove other flag ${at + 1}`}
            onClick={() => set({ prerequisites: prerequisites.filter((each) => each.row !== row) })}
          >
            Remove
          </button>
        </div>
      ))}
      <div>
        <button type="button" onClick={() => set({ prerequisites: [...prerequisites, newPrerequisite()] })}>
          Add another flag
        </button>
      </div>
    </Group>
  );
}
