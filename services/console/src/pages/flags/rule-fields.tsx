import parts from "../../parts/parts.module.css";
import { type FlagInput, newRule, type RuleInput } from "./flag-input.ts";
import { Group, SelectField, TextField } from "./form-parts.tsx";

interface RuleFieldsProps {
  readonly input: FlagInput;
  readonly set: (changed: Partial<FlagInput>) => void;
}

/** The rules of a flag in their order: the first whose conditions all match decides. */
export function RuleFields({ input: { rules, variants }, set }: RuleFieldsProps) {
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
        <button type="button" onClick={() => set({ rules: [...rules, newRule(names[0] ?? "")] })}>
          Add a rule
        </button>
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
  const { name, variant, percentage, accounts, roles, locales, ageFrom, ageTo } = rule;
  return (
    <Group legend={`Rule ${number}`}>
      <div className={parts.filters}>
        <SelectField
          label={`Rule ${number} gives`}
          choices={variants}
          value={variant}
          set={(text) => change({ variant: text })}
        />
        <TextField
          label={`Share of rule ${number} in %`}
          hint="Of the accounts; empty for all."
          value={percentage}
          set={(text) => change({ percentage: text })}
        />
        <TextField label={`Name of rule ${number}`} value={name} set={(text) => change({ name: text })} />
      </div>
      <details>
        <summary>Only some accounts</summary>
        <div className={parts.fields}>
          <TextField
            label={`Accounts of rule ${number}`}
            hint="Ids, with spaces between them."
            value={accounts}
            set={(text) => change({ accounts: text })}
          />
          <TextField label={`Roles of rule ${number}`} value={roles} set={(text) => change({ roles: text })} />
          <TextField label={`Locales of rule ${number}`} value={locales} set={(text) => change({ locales: text })} />
          <TextField
            label={`Days since its creation, from, of rule ${number}`}
            value={ageFrom}
            set={(text) => change({ ageFrom: text })}
          />
          <TextField
            label={`Days since its creation, to, of rule ${number}`}
            value={ageTo}
            set={(text) => change({ ageTo: text })}
          />
        </div>
      </details>
      <div className={parts.row}>
        {moveUp && (
          <button type="button" aria-label={`Move up rule ${number}`} onClick={moveUp}>
            Move up
          </button>
        )}
        <button type="button" aria-label={`Remove rule ${number}`} onClick={remove}>
          Remove
        </button>
      </div>
    </Group>
  );
}
