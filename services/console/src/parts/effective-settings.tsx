import { Panel, Table } from "./page.tsx";

interface EffectiveSettingsProps<From extends string> {
  /** The value of each setting as it holds, and where it comes from. */
  readonly settings: Readonly<Record<string, { readonly value?: unknown; readonly from: From }>>;
  readonly origins: Readonly<Record<From, string>>;
}

/** Shows the settings as they hold, each with where it comes from. */
export function EffectiveSettings<From extends string>({ settings, origins }: EffectiveSettingsProps<From>) {
  const rows = Object.entries(settings).map(([name, setting]) => ({ name, ...setting }));
  return (
    <Panel title="Settings as they hold">
      <Table
        label="Settings"
        rows={rows}
        keyOf={({ name }) => name}
        columns={{
          Setting: ({ name }) => name.replaceAll("_", " "),
          Value: ({ value }) => <code>{value === null || value === undefined ? "none" : JSON.stringify(value)}</code>,
          From: ({ from }) => origins[from],
        }}
      />
    </Panel>
  );
}
