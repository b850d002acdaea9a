import { Button } from "../../parts/button.tsx";
import { CheckField, fieldsOf, type InputProps } from "../../parts/fields.tsx";
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

type FieldsProps = InputProps<FlagInput>;

/** The fields of a flag: what it gives, to whom, and until when. Key and type stay once it is added. */
export function FlagFields({ input, set, isNew }: FieldsProps & { readonly isNew: boolean }) {
  const field = fieldsOf(input, set);
  return (
    <>
      {isNew && (
        <div className={parts.fields}>
          <TextField label="Key" hint="Code asks for it by this name." {...field("key")} />
          <SelectField label="Type" hint="It cannot change later." choices={flagTypes} {...field("type")} />
        </div>
      )}
      <div className={parts.fields}>
        <SelectField
          label="State"
          choices={flagStates}
          value={input.state}
          set={(state) => set({ state: state as FlagInput["state"] })}
        />
        <TextField label="Owner" {...field("owner")} />
        <TextField label="Decide until" type="date" hint="From then on it is listed as due." {...field("expires")} />
      </div>
      <TextField label="Description" {...field("description")} />
      <CheckField label="Browsers and apps see it" value={input.client} set={(client) => set({ client })} />
      <Variants input={input} set={set} />
      <RuleFields input={input} set={set} />
      <details>
        <summary>Schedule and other flags</summary>
        <div className={parts.page}>
          <Group legend="Schedule, in UTC">
            <div className={parts.fields}>
              <TextField label="From" type="datetime-local" {...field("from")} />
              <TextField label="Until" type="datetime-local" {...field("until")} />
            </div>
          </Group>
          <Prerequisites input={input} set={set} />
        </div>
      </details>
    </>
  );
}

function Variants({ input, set }: FieldsProps) {
  const { variants, type } = input;
  const field = fieldsOf(input, set);
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
          <Button
            label="Remove"
            className={styles.remove}
            aria-label={`Remove variant ${at + 1}`}
            onClick={() => set({ variants: variants.filter((variant) => variant.row !== row) })}
          />
        </div>
      ))}
      <div>
        <Button label="Add a variant" onClick={() => set({ variants: [...variants, newVariant()] })} />
      </div>
      <div className={parts.fields}>
        <SelectField
          label="Everybody else gets"
          hint="Accounts that no rule matches."
          choices={names}
          {...field("default")}
        />
        <SelectField
          label="Switched off it gives"
          hint="While it is disabled or outside its schedule."
          choices={names}
          {...field("off")}
        />
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
          <Button
            label="Remove"
            className={styles.remove}
            aria-label={`Remove other flag ${at + 1}`}
            onClick={() => set({ prerequisites: prerequisites.filter((each) => each.row !== row) })}
          />
        </div>
      ))}
      <div>
        <Button
          label="Add another flag"
          onClick={() => set({ prerequisites: [...prerequisites, newPrerequisite()] })}
        />
      </div>
    </Group>
  );
}
