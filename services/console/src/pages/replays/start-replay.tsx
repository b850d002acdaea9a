import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Failure } from "../../parts/answer.tsx";
import { useChange } from "../../parts/dialog.tsx";
import { Field, useFilters } from "../../parts/lists.tsx";
import { Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, versioned } from "../../session/api.ts";

const statuses = ["exhausted", "parked", "succeeded"] as const;

interface Asked {
  readonly endpointId: string;
  readonly status: (typeof statuses)[number] | "";
  readonly hours: string;
  readonly types: string;
}

const dayHours = 24;

/** Starts a replay. It is counted first, so that nobody sends a million deliveries by mistake. */
export function StartReplay({ onStarted }: { readonly onStarted?: (replay: { readonly id: string }) => void }) {
  const [{ endpoint_id: preset = "" }] = useFilters();
  const [asked, setAsked] = useState<Asked>({
    endpointId: preset,
    status: "exhausted",
    hours: String(dayHours),
    types: "",
  });
  const dryRun = useChange(() => send(asked, true));
  const replay = useChange(
    () => send(asked, false),
    (started) => {
      dryRun.reset();
      if ("id" in started) onStarted?.(started);
    },
  );
  // Another question has another count.
  const set = (changed: Partial<Asked>) => {
    setAsked({ ...asked, ...changed });
    dryRun.reset();
    replay.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    dryRun.mutate();
  };
  const count = dryRun.data !== undefined && "count" in dryRun.data ? dryRun.data.count : null;
  const error = dryRun.error ?? replay.error;
  return (
    <Panel title="Send again">
      <form onSubmit={submit} className={parts.page}>
        <Choices asked={asked} set={set} />
        <div className={parts.row}>
          <button type="submit" disabled={dryRun.isPending}>
            Count first
          </button>
          {count !== null && (
            <button
              type="button"
              className="main"
              disabled={count === 0 || replay.isPending}
              onClick={() => replay.mutate()}
            >
              Send {count.toLocaleString()} again
            </button>
          )}
          <span role="status">{count === 0 && "Nothing matches; there is nothing to send again."}</span>
        </div>
        {error && <Failure error={error} what="replay" />}
      </form>
    </Panel>
  );
}

interface ChoicesProps {
  readonly asked: Asked;
  readonly set: (changed: Partial<Asked>) => void;
}

/** The deliveries that are sent again. */
function Choices({ asked, set }: ChoicesProps) {
  const endpoints = useQuery({
    queryKey: ["endpoints", "names"],
    queryFn: async () =>
      (await versioned(api.GET("/api/v1/webhooks/endpoints", { params: { query: { limit: 100 } } }))).data.items,
  });
  return (
    <div className={parts.filters}>
      <Field label="Endpoint">
        {(ids) => (
          <select
            {...ids}
            required
            value={asked.endpointId}
            onChange={({ target }) => set({ endpointId: target.value })}
          >
            <option value="">choose one</option>
            {endpoints.data?.map(({ id, url }) => (
              <option key={id} value={id}>
                {url || id}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Deliveries that are">
        {(ids) => (
          <select
            {...ids}
            value={asked.status}
            onChange={({ target }) => set({ status: target.value as Asked["status"] })}
          >
            {statuses.map((status) => (
              <option key={status}>{status}</option>
            ))}
            <option value="">any of these</option>
          </select>
        )}
      </Field>
      <Field label="Of the last hours">
        {(ids) => (
          <input
            {...ids}
            type="number"
            min={1}
            required
            value={asked.hours}
            onChange={({ target }) => set({ hours: target.value })}
          />
        )}
      </Field>
      <Field label="Event types">
        {(ids) => (
          <input
            {...ids}
            placeholder="all"
            value={asked.types}
            onChange={({ target }) => set({ types: target.value })}
          />
        )}
      </Field>
    </div>
  );
}

async function send({ endpointId, status, hours, types }: Asked, isDryRun: boolean) {
  const words = types.split(/[\s,]+/).filter((word) => word !== "");
  const body = {
    endpoint_id: endpointId,
    from: new Date(Date.now() - Number(hours) * 3_600_000).toISOString(),
    dry_run: isDryRun,
    ...(status !== "" && { status }),
    ...(words.length > 0 && { event_types: words }),
  };
  return (
    await versioned(
      api.POST("/api/v1/webhooks/replays", { params: { header: { "Idempotency-Key": crypto.randomUUID() } }, body }),
    )
  ).data;
}
