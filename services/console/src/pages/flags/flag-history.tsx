import { useInfiniteQuery } from "@tanstack/react-query";
import { Answer } from "../../parts/answer.tsx";
import { Button } from "../../parts/button.tsx";
import { differencesOf } from "../../parts/differences.ts";
import { Status, Time } from "../../parts/inline.tsx";
import { Panel, Table } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { Actor } from "../properties/property-history.tsx";
import { type FlagChange, membersOf, readFlagHistory } from "./flag.ts";

const pageSize = 25;

interface HistoryProps {
  readonly flagKey: string;
  /** Puts a former version into the form; nothing changes before it is tried and set. */
  readonly onBack: (change: FlagChange) => void;
  /** The revision that holds now; null for an archived flag. */
  readonly now: string | null;
}

/** The changes of a flag: when, by whom, what differs from the version before, and why. */
export function FlagHistory({ flagKey: key, onBack, now }: HistoryProps) {
  const history = useInfiniteQuery({
    queryKey: ["flag-history", key],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) => readFlagHistory(key, pageSize, pageParam),
    getNextPageParam: ({ pageInfo }) => (pageInfo.hasNextPage ? pageInfo.endCursor : null),
    select: ({ pages }) => pages.flatMap(({ edges }) => edges.map(({ node }) => node)),
  });
  return (
    <Panel title="History">
      <Answer query={history} what="history" empty="There is and was no flag with this key.">
        {(items) => (
          <>
            <Table
              label="History"
              rows={items.map((change, at) => ({ ...change, before: items[at + 1] ?? null }))}
              keyOf={({ revision }) => revision}
              columns={{
                Revision: ({ revision }) => revision,
                Change: ({ before, ...change }) => (
                  <Difference change={change} before={before} isFirst={before === null && !history.hasNextPage} />
                ),
                Reason: ({ reason }) => reason ?? "–",
                By: ({ actor }) => <Actor id={actor} />,
                Time: ({ changedAt }) => <Time at={changedAt} />,
                Version: ({ before: _, ...change }) => <Version change={change} now={now} onBack={onBack} />,
              }}
            />
            {history.hasNextPage && (
              <div>
                <Button
                  label="Older changes"
                  disabled={history.isFetchingNextPage}
                  onClick={() => void history.fetchNextPage()}
                />
              </div>
            )}
          </>
        )}
      </Answer>
    </Panel>
  );
}

interface DifferenceProps {
  readonly change: FlagChange;
  readonly before: FlagChange | null;
  readonly isFirst: boolean;
}

function Difference({ change: { flag }, before, isFirst }: DifferenceProps) {
  if (flag === null) return <Status tone="off">archived</Status>;
  if (isFirst) return <Status tone="good">added</Status>;
  if (before === null) return "see older changes";
  if (before.flag === null) return <Status tone="good">added again</Status>;
  const differences = differencesOf(membersOf(flag), membersOf(before.flag));
  if (differences.length === 0) return "no change";
  return differences.map(({ name, mine, theirs }) => (
    <div key={name}>
      {name}: <code>{theirs}</code> → <code>{mine}</code>
    </div>
  ));
}

function Version({ change, now, onBack }: Pick<HistoryProps, "now" | "onBack"> & { readonly change: FlagChange }) {
  if (change.flag === null) return "–";
  if (change.revision === now) return <span className={parts.quiet}>current</span>;
  return <Button label="Restore" aria-label={`Restore revision ${change.revision}`} onClick={() => onBack(change)} />;
}
