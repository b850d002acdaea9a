import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Answer } from "../../parts/answer.tsx";
import { Status } from "../../parts/inline.tsx";
import { Curl } from "../../parts/lists.tsx";
import { Page, Panel, Table } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { type ReadAgain, useReadAgain } from "../../parts/read-again.tsx";
import { durationText } from "../../parts/time-text.ts";
import { api } from "../../session/api.ts";
import { useLinkOf } from "../configuration.ts";
import { deadEvents, deadLetters, parkedKeys, readMessages, runbookUrl } from "../operating.ts";
import { Groups, Outboxes } from "./groups.tsx";
import { Instances, Workers } from "./instances.tsx";
import { OperationsPanel, Unavailable } from "./operations-panel.tsx";

/** The whole product as it runs: what waits for a person, what is behind, and what runs. */
export function OperationsPage() {
  const { refetchInterval, control } = useReadAgain(10_000);
  const dashboards = useLinkOf("dashboards");
  return (
    <Page
      title="Operations"
      actions={
        <>
          {control}
          {dashboards !== null && <a href={dashboards}>Dashboards</a>}
          <a href={runbookUrl("")}>Runbooks</a>
        </>
      }
    >
      <Waiting refetchInterval={refetchInterval} />
      <Groups refetchInterval={refetchInterval} />
      <Outboxes refetchInterval={refetchInterval} />
      <Instances refetchInterval={refetchInterval} />
      <Workers refetchInterval={refetchInterval} />
      <Backups refetchInterval={refetchInterval} />
      <Curl path="api/v1/operations/instances" />
    </Page>
  );
}

const kinds = [deadLetters, deadEvents, parkedKeys];
const paths = {
  "dead-letters": "/operations/dead-letters",
  "dead-events": "/operations/dead-events",
  parked: "/operations/parked",
} as const;
const countedMax = 100;

/** Messages that wait for a decision, by kind. */
function Waiting({ refetchInterval }: ReadAgain) {
  const waiting = useQuery({
    queryKey: ["operations", "waiting"],
    refetchInterval,
    queryFn: () =>
      Promise.all(
        kinds.map(async (kind) => {
          const { items, has_more, unavailable } = await readMessages(kind, { limit: countedMax });
          return { kind, count: items.length, isMore: has_more, unavailable };
        }),
      ),
  });
  return (
    <Panel title="Needs attention">
      <Answer query={waiting} what="messages">
        {(found) => (
          <>
            <Unavailable services={found[0]?.unavailable ?? []} />
            <Table
              label="Needs attention"
              rows={found}
              keyOf={({ kind }) => kind.collection}
              columns={{
                Kind: ({ kind }) => <Link to={paths[kind.collection]}>{kind.title}</Link>,
                Messages: ({ count, isMore }) => (
                  <Status tone={count === 0 ? "good" : "failed"}>
                    {count === 0 ? "none" : `${count}${isMore ? " or more" : ""}`}
                  </Status>
                ),
                Meaning: ({ kind }) => kind.about,
              }}
            />
          </>
        )}
      </Answer>
    </Panel>
  );
}

const Backups = ({ refetchInterval }: ReadAgain) => (
  <OperationsPanel
    title="Backups"
    what="backups"
    refetchInterval={refetchInterval}
    read={() => api.operations.operatingBackups()}
  >
    {({ items, is_watched }) => (
      <>
        {!is_watched && (
          <p className={parts.quiet}>
            No backup folder is monitored. Set one in the property <code>operations.backups-folder</code>.
          </p>
        )}
        {is_watched && items.length === 0 && <p>No backups in the folder yet.</p>}
        {items.length > 0 && (
          <Table
            label="Backups"
            rows={items}
            keyOf={({ name }) => name}
            columns={{
              Backup: ({ name }) => name,
              Age: ({ age_seconds }) => durationText(age_seconds * 1_000),
              Release: ({ release }) => release,
              Verified: ({ verified_at }) => (
                <Status tone={verified_at ? "good" : "wait"}>{verified_at ? "verified" : "not verified"}</Status>
              ),
            }}
          />
        )}
      </>
    )}
  </OperationsPanel>
);
