import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { bodyOfSpan, CountFirst, type ReplaySpan, SpanFields, useCountedReplay } from "../../parts/count-first.tsx";
import { Time } from "../../parts/inline.tsx";
import { Curl, Field, useFilters } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { ReplaysSoFar, replayPollMs } from "../../parts/replay-list.tsx";
import { api, useMay, versioned } from "../../session/api.ts";

const path = "api/v1/webhooks/replays";

const readReplays = async (cursor: string | undefined) =>
  (await versioned(api.GET(`/${path}`, { params: { query: { limit: 20, ...(cursor !== undefined && { cursor }) } } })))
    .data;

/** Replays: what was sent again, how far each is, and a new one. */
export function ReplaysPage() {
  const [{ cursor }] = useFilters();
  const mayWrite = useMay("webhooks:write");
  const replays = useQuery({
    queryKey: ["replays", cursor],
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => replayPollMs(state.data?.items),
    queryFn: () => readReplays(cursor),
  });
  return (
    <Page title="Replays">
      {mayWrite && <StartReplay />}
      <ReplaysSoFar
        replays={replays}
        empty="Nothing was replayed yet. A replay sends what an endpoint missed, after an outage for example."
        done={({ replayed }) => replayed}
        columns={[
          {
            name: "Endpoint",
            cell: ({ endpoint_id: id }) => (
              <Link to="/webhooks/endpoints/$id" params={{ id }}>
                <code>{id}</code>
              </Link>
            ),
          },
        ]}
        of={({ from, to, statuses }) => (
          <>
            {statuses.join(", ")}, from <Time at={from} /> to <Time at={to} />
          </>
        )}
        kept="What was sent again already stays sent."
        cancel={mayWrite ? ({ id }) => cancel(id) : undefined}
      />
      <Curl path={path} query={{ cursor }} />
    </Page>
  );
}

const cancel = (id: string) =>
  versioned(api.POST("/api/v1/webhooks/replays/{id}/cancel", { params: { path: { id } } }));

const statuses = ["exhausted", "parked", "succeeded"] as const;

interface Asked extends ReplaySpan {
  readonly endpointId: string;
  readonly status: (typeof statuses)[number] | "";
}

const dayHours = 24;

/** Starts a replay, which is counted first. */
function StartReplay() {
  const [{ endpoint_id: preset = "" }] = useFilters();
  const [asked, setAsked] = useState<Asked>({
    endpointId: preset,
    status: "exhausted",
    hours: String(dayHours),
    types: "",
  });
  const replay = useCountedReplay((isDryRun) => send(asked, isDryRun));
  const set = (changed: Partial<Asked>) => {
    setAsked({ ...asked, ...changed });
    replay.reset();
  };
  return (
    <CountFirst title="Send again" verb="Send" replay={replay}>
      <Choices asked={asked} set={set} />
    </CountFirst>
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
      <SpanFields typesLabel="Event types" span={asked} set={set} />
    </div>
  );
}

async function send({ endpointId, status, ...span }: Asked, isDryRun: boolean) {
  const body = { endpoint_id: endpointId, ...bodyOfSpan(span, isDryRun), ...(status !== "" && { status }) };
  const params = { header: { "Idempotency-Key": crypto.randomUUID() } };
  return (await versioned(api.POST("/api/v1/webhooks/replays", { params, body }))).data;
}
