import { useState } from "react";
import { useFeed } from "../../live/live-feed.ts";
import { LiveStatus } from "../../live/live-status.tsx";
import { readEvery } from "../../live/read-every.ts";
import { Id, Status, Time } from "../../parts/inline.tsx";
import { choice, timeRange, useFilters } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import { type ListQuery, ResourceList } from "../../parts/resource-list.tsx";
import { api } from "../../session/api.ts";
import { DeliveryLink, EndpointLink } from "../links.tsx";
import { deliveryStates } from "../webhooks.ts";
import {
  attemptsMade,
  type DeliveryRow,
  joined,
  type LiveAttempt,
  type ToldRows,
  withAttempts,
} from "./live-deliveries.ts";

const rowsMax = 25;

async function readDeliveries(query: ListQuery) {
  const askedAtMs = Date.now();
  const data = await api.webhookDeliveries.list(query);
  return { ...data, items: data.items as readonly DeliveryRow[], askedAtMs };
}

/** Deliveries by endpoint, event, status, type and time. A delivery's own id opens it at once. */
export function DeliveriesPage() {
  const [search] = useFilters();
  const { limit } = search;
  // The first page shows what happens now, the others what has been.
  const isNow = search.cursor === undefined;
  const [told, setTold] = useState<ToldRows>(new Map());
  const live = useFeed<LiveAttempt>({
    subscription: attemptsMade,
    variables: { endpointId: search.endpoint_id ?? null },
    isOn: isNow,
    atOf: ({ event }) => event.occurredAt,
    onBatch: (attempts) => setTold((before) => withAttempts(before, attempts, Date.now())),
  });
  return (
    <Page title="Deliveries" actions={isNow && <LiveStatus live={live} />}>
      <ResourceList
        label="Deliveries"
        noun="delivery"
        path="api/v1/webhooks/deliveries"
        read={readDeliveries}
        everyMs={readEvery(live)}
        rowsOf={({ items, askedAtMs }) =>
          isNow ? joined(items, told, { askedAtMs, max: Number(limit) || rowsMax, search }) : items
        }
        filters={{
          status: choice("Status", deliveryStates),
          endpoint_id: "Endpoint id",
          event_id: "Event id",
          type: "Event type",
          ...timeRange,
        }}
        empty="No deliveries yet. A delivery starts when an event matches an endpoint that subscribes to its type."
        columns={{
          Delivery: ({ id, event_type }) => (
            <>
              <DeliveryLink id={id}>{event_type}</DeliveryLink>
              <Id value={id} />
            </>
          ),
          Status: ({ status }) => <Status>{status}</Status>,
          Attempts: ({ attempts }) => attempts,
          "Last response": ({ last_status, last_error }) => last_status ?? last_error ?? "–",
          Endpoint: ({ endpoint_id }) => (
            <EndpointLink id={endpoint_id}>
              <code>{endpoint_id}</code>
            </EndpointLink>
          ),
          Created: ({ created_at }) => <Time at={created_at} />,
          "Next attempt": ({ next_attempt_at }) => (next_attempt_at ? <Time at={next_attempt_at} /> : "–"),
        }}
      />
    </Page>
  );
}
