import { Button } from "../../parts/button.tsx";
import { fieldsOf, type InputProps } from "../../parts/fields.tsx";
import parts from "../../parts/parts.module.css";
import { type FlagInput, newRule, type RuleInput } from "./flag-input.ts";
import { Group, SelectField, TextField } from "./form-parts.tsx";

/** The rules of a flag in their order: the first whose conditions all match decides. */
export function RuleFields({ input: { rules, variants }, set }: InputProps<FlagInput>) {
  const names = variants.map(({ name }) => name);
  const swap = (at: number, other: number) =>
    set({ rules: rules.map((rule, index) => rules[index === at ? other : index === other ? at : index] ?? rule) });
  return (
    <Group legend="Rules">
      <p className={parts.quiet}>
        The first rule whose conditions all match decides. An account that has a variant keeps it while the share grows.
      </p>
      {rules.map((rule, at) => (
        <Rule
          key={rule.row}
          rule={rule}
          number={at + 1}
          variants={names}
          change={(changed) => set({ rules: rules.map((one) => (one === rule ? { ...one, ...changed } : one)) })}
          remove={() => set({ rules: rules.filter((one) => one !== rule) })}
          {...(at > 0 && { moveUp: () => swap(at, at - 1) })}
        />
      ))}
      <div>
        <Button label="Add a rule" onClick={() => set({ rules: [...rules, newRule(names[0] ?? "")] })} />
      </div>
    </Group>
  );
}

interface RuleProps {
  readonly rule: RuleInput;
  readonly number: number;
  readonly variants: readonly string[];
  readonly change: (changed: Partial<RuleInput>) => void;
  readonly remove: () => void;
  readonly moveUp?: () => void;
}

function Rule({ rule, number, variants, change, remove, moveUp }: RuleProps) {
  const field = fieldsOf(rule, change);
  return (
    <Group legend={`Rule ${number}`}>
      <div className={parts.filters}>
        <SelectField label={`Rule ${number} gives`} choices={variants} {...field("variant")} />
        <TextField
          label={`Share of rule ${number} in %`}
          hint="Of the accounts; empty for all."
          {...field("percentage")}
        />
        <TextField label={`Name of rule ${number}`} {...field("name")} />
      </div>
      <details>
        <summary>Only some accounts</summary>
        <div className={parts.fields}>
          <TextField
            label={`Accounts of rule ${number}`}
            hint="Ids, with spaces between them."
            {...field("accounts")}
          />
          <TextField label={`Roles of rule ${number}`} {...field("roles")} />
          <TextField label={`Locales of rule ${number}`} {...field("locales")} />
          <TextField
            label={`Attributes of rule ${number}`}
            hint='JSON, such as [{"name":"plan","operator":"==","value":"pro"}]'
            {...field("attributes")}
          />
          <TextField label={`Attribute that chooses the share of rule ${number}`} {...field("by")} />
          <TextField label={`Days since its creation, from, of rule ${number}`} {...field("ageFrom")} />
          <TextField label={`Days since its creation, to, of rule ${number}`} {...field("ageTo")} />
        </div>
      </details>
      <div className={parts.row}>
        {moveUp && <Button label="Move up" aria-label={`Move up rule ${number}`} onClick={moveUp} />}
        <Button label="Remove" aria-label={`Remove rule ${number}`} onClick={remove} />
      </div>
    </Group>
  );
}
