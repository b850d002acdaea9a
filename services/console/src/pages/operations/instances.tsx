import type { Instance, Worker } from "@signalbox/client";
import { instanceName, Status, Time, type Tone } from "../../parts/inline.tsx";
import { Table } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import type { ReadAgain } from "../../parts/read-again.tsx";
import { durationText } from "../../parts/time-text.ts";
import { api } from "../../session/api.ts";
import { PropertyLink } from "../links.tsx";
import { OperationsPanel } from "./operations-panel.tsx";

/** The instances of every service with the release and the configuration that each runs. */
export const Instances = ({ refetchInterval }: ReadAgain) => (
  <OperationsPanel
    title="Instances"
    what="instances"
    refetchInterval={refetchInterval}
    read={() => api.operations.operatingInstances()}
    empty="No instance has reported yet. Each reports once a minute."
  >
    {({ items }) => (
      <>
        <p>{releasesText(items)}</p>
        <Table
          label="Instances"
          rows={items}
          keyOf={({ instance }) => instance}
          columns={{
            Instance: instanceName,
            State: ({ state }) => <Status tone={state === "running" ? "good" : "wait"}>{state}</Status>,
            Release: ({ version }) => version ?? "unnamed",
            Started: ({ started_at }) => <Time at={started_at} />,
            Configuration: (instance) => <Applied instance={instance} />,
            "Last report": ({ last_seen_seconds }) => `${durationText(last_seen_seconds * 1_000)} ago`,
          }}
        />
      </>
    )}
  </OperationsPanel>
);

function releasesText(items: readonly Instance[]): string {
  const releases = Map.groupBy(items, ({ version }) => version ?? "an unnamed release");
  const parts = [...releases].map(([release, of]) => `${release} (${of.length})`);
  return parts.length === 1 ? `All run ${parts[0]}.` : `Several releases run: ${parts.join(", ")}.`;
}

function Applied({ instance }: { readonly instance: Instance }) {
  const { applied_revision, lag_seconds, pending_restart } = instance;
  return (
    <>
      <Status tone={lag_seconds === 0 ? "good" : "wait"}>
        {lag_seconds === 0
          ? `revision ${applied_revision}`
          : `${applied_revision}, ${durationText(lag_seconds * 1_000)} behind`}
      </Status>
      {pending_restart.map((name) => (
        <div key={name} className={parts.quiet}>
          <PropertyLink id={name}>{name}</PropertyLink> waits for a restart
        </div>
      ))}
    </>
  );
}

const tones: Readonly<Record<Worker["state"], Tone>> = {
  running: "good",
  waiting: "wait",
  stopped: "off",
  "gave up": "failed",
};

/** The workers that need a look; all of them on demand. */
export const Workers = ({ refetchInterval }: ReadAgain) => (
  <OperationsPanel
    title="Workers"
    what="workers"
    refetchInterval={refetchInterval}
    read={() => api.operations.operatingWorkers()}
  >
    {({ items }) => {
      const troubled = items.filter(({ state, restarts }) => state !== "running" || restarts > 0);
      return (
        <>
          {troubled.length === 0 ? (
            <p>All {items.length} workers run, and none was restarted.</p>
          ) : (
            <WorkerTable label="Workers that failed" items={troubled} />
          )}
          <details>
            <summary>All {items.length} workers</summary>
            <WorkerTable label="All workers" items={items} />
          </details>
        </>
      );
    }}
  </OperationsPanel>
);

const WorkerTable = ({ label, items }: { readonly label: string; readonly items: readonly Worker[] }) => (
  <Table
    label={label}
    rows={items}
    keyOf={({ instance, worker }) => `${instance} ${worker}`}
    columns={{
      Worker: ({ worker }) => worker,
      Instance: ({ service, instance }) => (
        <>
          {service} <code className={parts.quiet}>{instance}</code>
        </>
      ),
      State: ({ state }) => <Status tone={tones[state]}>{state}</Status>,
      Restarts: ({ restarts }) => restarts,
      "Last heartbeat": ({ last_beat_at }) => (last_beat_at ? <Time at={last_beat_at} /> : "not monitored"),
    }}
  />
);
