import { useQuery } from "@tanstack/react-query";
import { bodyOfSpan, CountFirst, type ReplaySpan, spanFields, useCountedReplay } from "../../parts/count-first.tsx";
import { Time } from "../../parts/inline.tsx";
import { useFilters } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import { ReplaysSoFar } from "../../parts/replay-list.tsx";
import { api, useIsPortal, useMay } from "../../session/api.ts";
import { EndpointLink } from "../links.tsx";

/** Replays and retries: what was sent again, how far each is, and a new one. */
export const ReplaysPage = () => (
  <Page title="Replays">
    {useMay("webhooks:write") && <StartReplay />}
    <ReplaysSoFar
      path="api/v1/webhooks/replays"
      read={(query) => api.webhookReplays.list(query)}
      empty="No replays yet. A replay sends what an endpoint missed, for example after an outage."
      done={({ replayed }) => replayed}
      note={({ left_out }) => left_out > 0 && `, ${left_out} left out`}
      columns={{
        Endpoint: ({ endpoint_id: id }) =>
          id === null ? (
            "all"
          ) : (
            <EndpointLink id={id}>
              <code>{id}</code>
            </EndpointLink>
          ),
      }}
      of={({ from, to, statuses }) => (
        <>
          {statuses.join(", ")}, from <Time at={from} /> to <Time at={to} />
        </>
      )}
      kept="Deliveries already sent stay sent."
      cancel={({ id }) => api.webhookReplays.cancel(id)}
    />
  </Page>
);

const notArrived = ["waiting", "exhausted", "parked"] as const;
const statuses = [["", "not arrived"], ...notArrived, "succeeded", ["any", "any"]] as const;

interface Choice extends ReplaySpan {
  /** Empty for all endpoints. */
  readonly endpointId: string;
  readonly status: string;
}

/** What has arrived is sent again to one endpoint only. */
const isRetry = ({ status }: Choice): boolean => status !== "succeeded" && status !== "any";

/** Starts a replay or a retry, which is counted first. */
function StartReplay() {
  const [{ endpoint_id: endpointId = "" }] = useFilters();
  const replay = useCountedReplay<Choice>({ endpointId, status: "", hours: "24", types: "" }, send);
  const endpoints = useQuery({
    queryKey: ["endpoints", "names"],
    queryFn: async () => (await api.webhookEndpoints.list({ limit: 100 })).items,
  });
  const isOne = useIsPortal() || !isRetry(replay.input);
  const names = (endpoints.data ?? []).map(({ id, url }) => [id, url || id] as const);
  return (
    <CountFirst
      title="Send again"
      verb="Send"
      replay={replay}
      fields={{
        endpointId: { label: "Endpoint", required: isOne, choices: [["", isOne ? "choose one" : "all"], ...names] },
        status: { label: "Status", choices: statuses },
        ...spanFields,
      }}
    />
  );
}

async function send(choice: Choice, isDryRun: boolean) {
  const { endpointId: endpoint_id, status } = choice;
  const body = { ...bodyOfSpan(choice), dry_run: isDryRun };
  if (!isRetry(choice)) {
    const arrived = status === "succeeded" ? { status: "succeeded" as const } : {};
    return api.webhookReplays.start({ ...body, endpoint_id, ...arrived });
  }
  const one = notArrived.find((known) => known === status);
  return api.webhookDeliveries.retry({
    ...body,
    ...(endpoint_id !== "" && { endpoint_id }),
    ...(one && { status: one }),
  });
}
