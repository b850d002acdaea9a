import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Live } from "../../live/read-every.ts";
import { Status } from "../../parts/inline.tsx";
import { Panel } from "../../parts/page.tsx";
import { api, versioned } from "../../session/api.ts";
import { EndpointLink } from "../links.tsx";

const one = { params: { query: { limit: 1 } } } as const;

/** Reads how far the account is on the way to a first delivery. */
async function readProgress() {
  const [endpoints, events, deliveries] = await Promise.all([
    versioned(api.GET("/api/v1/webhooks/endpoints", one)),
    versioned(api.GET("/api/v1/webhooks/events", one)),
    versioned(api.GET("/api/v1/webhooks/deliveries", { params: { query: { limit: 1, status: "succeeded" } } })),
  ]);
  return {
    endpointId: endpoints.data.items[0]?.id ?? null,
    hasEvent: events.data.items.length > 0,
    hasDelivery: deliveries.data.items.length > 0,
  };
}

const isComplete = ({ endpointId, hasDelivery }: Awaited<ReturnType<typeof readProgress>>) =>
  endpointId !== null && hasDelivery;

/** The steps to a first delivery. Each is ticked when its fact is there, and the list goes away with the last. */
export function Checklist({ live }: { readonly live: Live }) {
  const { data } = useQuery({
    queryKey: ["progress"],
    queryFn: readProgress,
    refetchInterval: ({ state }) => (live.state === "paused" || (state.data && isComplete(state.data)) ? false : 3_000),
  });
  if (!data || isComplete(data)) return null;
  const { endpointId, hasEvent } = data;
  return (
    <Panel title="To your first delivery">
      <ol>
        <li>
          <Status tone="good">done</Status> Sign in.
        </li>
        <li>
          <Step isDone={endpointId !== null} />{" "}
          <Link to="/webhooks/endpoints/new">Add the address of your receiver as an endpoint</Link>, and keep its
          secret.
        </li>
        <li>
          <Step isDone={hasEvent} />{" "}
          <Link to="/webhooks/events" search={{ publish: "yes" }}>
            Publish a test event
          </Link>
          {endpointId !== null && (
            <>
              , or send one to <EndpointLink id={endpointId}>your endpoint</EndpointLink> alone
            </>
          )}
          .
        </li>
        <li>
          <Step isDone={false} /> See it <Link to="/webhooks/deliveries">delivered</Link>. This list goes away then.
        </li>
      </ol>
    </Panel>
  );
}

const Step = ({ isDone }: { readonly isDone: boolean }) => (
  <Status tone={isDone ? "good" : "wait"}>{isDone ? "done" : "to do"}</Status>
);
