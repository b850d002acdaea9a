import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { CountFirst, type ReplaySpan, SpanFields, useCountedReplay } from "../../parts/count-first.tsx";
import { Field, useFilters } from "../../parts/lists.tsx";
import parts from "../../parts/parts.module.css";
import { api, versioned } from "../../session/api.ts";

const statuses = ["exhausted", "parked", "succeeded"] as const;

interface Asked extends ReplaySpan {
  readonly endpointId: string;
  readonly status: (typeof statuses)[number] | "";
}

const dayHours = 24;

/** Starts a replay, which is counted first. */
export function StartReplay() {
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
