import { Time } from "../../parts/inline.tsx";
import parts from "../../parts/parts.module.css";
import { PanelList } from "../../parts/resource-list.tsx";
import { useMay } from "../../session/api.ts";
import { askGraph } from "../../session/graph.ts";
import { type Property, valueText } from "../configuration.ts";
import { AccountLink } from "../links.tsx";

interface State {
  readonly set: boolean;
  readonly value: unknown;
  readonly masked: boolean;
}

interface PastChange {
  readonly revision: string;
  readonly actor: string;
  readonly reason: string | null;
  readonly changedAt: string;
  readonly before: State;
  readonly after: State;
}

const historyQuery = `query($name: String!) { propertyHistory(name: $name, first: 20) { edges { node {
  revision actor reason changedAt before { set value masked } after { set value masked }
} } } }`;

interface Answered {
  readonly propertyHistory: { readonly edges: ReadonlyArray<{ readonly node: PastChange }> };
}

/** The changes of a property and of its overrides for one service: when, by whom, from what to what, and why. */
export function PropertyHistory({ property: { name, overrides } }: { readonly property: Property }) {
  // An override for one service has a history of its own.
  const names = [...new Set([name, ...overrides.map((override) => override.name)])];
  return (
    <PanelList
      title="History"
      queryKey={["property-history", names]}
      read={async () => (await Promise.all(names.map(readHistory))).flat().toSorted(byTime)}
      empty="Nobody has overridden it yet."
      keyOf={({ name: one, revision }) => `${one} ${revision}`}
      columns={{
        Revision: ({ revision, name: one }) => (one === name ? revision : `${revision}, ${one}`),
        Before: ({ before }) => <code>{stateText(before)}</code>,
        After: ({ after }) => <code>{stateText(after)}</code>,
        Reason: ({ reason }) => reason ?? "–",
        By: ({ actor }) => <Actor id={actor} />,
        Time: ({ changedAt }) => <Time at={changedAt} />,
      }}
    />
  );
}

async function readHistory(name: string) {
  const { propertyHistory } = await askGraph<Answered>(historyQuery, { name });
  return propertyHistory.edges.map(({ node }) => ({ ...node, name }));
}

const byTime = (one: PastChange, other: PastChange) => other.changedAt.localeCompare(one.changedAt);

export const stateText = (state: State): string => (state.set ? valueText(state) : "not overridden");

/** The author of a change: an account, which an administrator can open, or the product itself. */
export function Actor({ id }: { readonly id: string }) {
  const mayOpen = useMay("account:admin");
  if (!mayOpen || !id.startsWith("acc_")) return <code className={parts.quiet}>{id}</code>;
  return (
    <AccountLink id={id}>
      <code>{id}</code>
    </AccountLink>
  );
}
