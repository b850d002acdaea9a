import { memberText } from "./indent-json.ts";
import { Panel, Table } from "./page.tsx";

interface EffectiveSettingsProps<From extends string> {
  /** The effective value of each setting, and where it comes from. */
  readonly settings: Readonly<Record<string, { readonly value?: unknown; readonly from: From }>>;
  /** The answer that has them, for the values as they came. */
  readonly text: string | undefined;
  readonly origins: Readonly<Record<From, string>>;
}

/** Shows the effective settings, each with where it comes from. */
export function EffectiveSettings<From extends string>({ settings, text = "", origins }: EffectiveSettingsProps<From>) {
  const textOf = (name: string) => memberText(text, "effective_settings", name, "value") ?? "none";
  return (
    <Panel title="Effective settings">
      <Table
        label="Settings"
        rows={Object.entries(settings)}
        keyOf={([name]) => name}
        columns={{
          Setting: ([name]) => name.replaceAll("_", " "),
          Value: ([name]) => <code>{textOf(name).replace(/^null$/, "none")}</code>,
          Source: ([, { from }]) => origins[from],
        }}
      />
    </Panel>
  );
}
