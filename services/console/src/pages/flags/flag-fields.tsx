import type { InputProps } from "../../parts/fields.tsx";
import { Fields, type FieldsData } from "../../parts/form.tsx";
import parts from "../../parts/parts.module.css";
import { Group, RowList } from "../../parts/row-list.tsx";
import {
  blankPrerequisite,
  blankRule,
  blankVariant,
  type FlagInput,
  flagStates,
  flagTypes,
  type RuleInput,
} from "./flag-input.ts";

type FieldsProps = InputProps<FlagInput>;

const own: FieldsData<FlagInput> = {
  key: { label: "Key", hint: "Code asks for it by this name." },
  type: { label: "Type", hint: "It cannot change later.", choices: flagTypes },
};

const shared: FieldsData<FlagInput> = {
  state: { label: "State", choices: flagStates },
  owner: { label: "Owner" },
  expires: { label: "Review by", type: "date", hint: "Listed as due from then on." },
  description: { label: "Description", isProse: true },
  client: { label: "Visible to browsers and apps" },
};

const schedule: FieldsData<FlagInput> = {
  from: { label: "From", type: "datetime-local", step: "any" },
  until: { label: "Until", type: "datetime-local", step: "any" },
};

/** The fields of a flag: what it gives, to whom, and until when. Key and type stay once it is added. */
export function FlagFields({ isNew, ...form }: FieldsProps & { readonly isNew: boolean }) {
  const { input, set } = form;
  return (
    <>
      <div className={parts.fields}>
        <Fields {...form} fields={isNew ? { ...own, ...shared } : shared} />
      </div>
      <Variants {...form} />
      <Rules {...form} />
      <details>
        <summary>Schedule and prerequisites</summary>
        <div className={parts.page}>
          <Group legend="Schedule, in UTC">
            <div className={parts.fields}>
              <Fields {...form} fields={schedule} />
            </div>
          </Group>
          <RowList
            legend="Prerequisites"
            noun="prerequisite"
            rows={input.prerequisites}
            set={(prerequisites) => set({ prerequisites })}
            blank={blankPrerequisite}
            fields={(number) => ({
              flag: { label: `Flag of prerequisite ${number}` },
              variants: { label: `Variants of prerequisite ${number}` },
            })}
          />
        </div>
      </details>
    </>
  );
}

function Variants({ input, set }: FieldsProps) {
  const names = input.variants.map(({ name }) => name);
  const values = input.type === "boolean" ? { choices: ["true", "false"] } : {};
  return (
    <RowList
      legend="Variants"
      noun="variant"
      rows={input.variants}
      set={(variants) => set({ variants })}
      blank={blankVariant}
      fields={(number) => ({
        name: { label: `Name of variant ${number}` },
        value: { label: `Value of variant ${number}`, ...values },
      })}
    >
      <div className={parts.fields}>
        <Fields
          input={input}
          set={set}
          fields={{
            default: { label: "Default variant", hint: "Accounts that no rule matches.", choices: names },
            off: {
              label: "Off variant",
              hint: "While it is disabled or outside its schedule.",
              choices: names,
            },
          }}
        />
      </div>
    </RowList>
  );
}

/** The rules of a flag in their order: the first whose conditions all match decides. */
function Rules({ input: { rules, variants }, set }: FieldsProps) {
  const names = variants.map(({ name }) => name);
  return (
    <RowList
      legend="Rules"
      noun="rule"
      rows={rules}
      set={(changed) => set({ rules: changed })}
      blank={{ ...blankRule, variant: names[0] ?? "" }}
      isOrdered
      lead={
        <p className={parts.quiet}>
          The first rule whose conditions all match decides. An account that has a variant keeps it while the share
          grows.
        </p>
      }
      fields={(number) => ({
        variant: { label: `Variant of rule ${number}`, choices: names },
        percentage: { label: `Share of rule ${number} in %`, hint: "Of the accounts; empty for all." },
        name: { label: `Name of rule ${number}` },
      })}
      more={{ summary: "Targeting", fields: conditionsOf }}
    />
  );
}

const conditionsOf = (number: number): FieldsData<RuleInput> => ({
  accounts: { label: `Accounts of rule ${number}`, hint: "Ids, separated by spaces." },
  roles: { label: `Roles of rule ${number}` },
  locales: { label: `Locales of rule ${number}` },
  attributes: {
    label: `Attributes of rule ${number}`,
    hint: 'JSON, such as [{"name":"plan","operator":"==","value":"pro"}]',
  },
  by: { label: `Attribute that chooses the share of rule ${number}` },
  ageFrom: { label: `Minimum account age in days of rule ${number}` },
  ageTo: { label: `Maximum account age in days of rule ${number}` },
});
