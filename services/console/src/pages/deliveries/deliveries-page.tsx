import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useLive } from "../../live/live-feed.ts";
import { LiveStatus } from "../../live/live-status.tsx";
import { readEvery } from "../../live/read-every.ts";
import { Answer } from "../../parts/answer.tsx";
import { Id, Status, Time } from "../../parts/inline.tsx";
import { useList } from "../../parts/listing.tsx";
import { ChoiceFilter, Curl, Filters, Pager, TextFilter, TimeFilter, useFilters } from "../../parts/lists.tsx";
import { Page, Table } from "../../parts/page.tsx";
import { api, versioned } from "../../session/api.ts";
import { EndpointLink } from "../links.tsx";
import { deliveryTones } from "../webhooks.ts";
import { type DeliveryRow, joined, type ToldRows, withAttempts } from "./live-deliveries.ts";

const path = "api/v1/webhooks/deliveries";
const rowsMax = 25;

/** Deliveries by endpoint, event, status, type and time. A delivery's own id opens it at once. */
export function DeliveriesPage() {
  const [search] = useFilters();
  const query = { ...search, limit: rowsMax };
  // The first page shows what happens now, the others what has been.
  const isNow = search.cursor === undefined;
  const [told, setTold] = useState<ToldRows>(new Map());
  const live = useLive({
    endpointId: search.endpoint_id,
    isOn: isNow,
    onBatch: (attempts) => setTold((before) => withAttempts(before, attempts, Date.now())),
  });
  const deliveries = useList(
    ["deliveries", query],
    async () => {
      const askedAtMs = Date.now();
      const { data } = await versioned(api.GET(`/${path}`, { params: { query: query as object } }));
      return { ...data, askedAtMs };
    },
    { refetchInterval: readEvery(live, isNow) },
  );
  return (
    <Page title="Deliveries" actions={isNow && <LiveStatus live={live} />}>
      <Filters>
        <ChoiceFilter name="status" label="Status" choices={Object.keys(deliveryTones)} />
        <TextFilter name="endpoint_id" label="Endpoint id" />
        <TextFilter name="event_id" label="Event id" />
        <TextFilter name="type" label="Event type" />
        <TimeFilter name="from" label="From" />
        <TimeFilter name="to" label="Until" />
      </Filters>
      <Answer
        query={deliveries}
        what="deliveries"
        isEmpty={({ items }) => items.length === 0 && told.size === 0}
        empty={
          <p>
            {Object.keys(search).length > 0
              ? "No delivery matches these filters."
              : "Nothing was sent yet. A delivery begins when an event meets an endpoint that wants its type."}
          </p>
        }
      >
        {({ items, next_cursor: next, askedAtMs }) => (
          <>
            <Deliveries items={isNow ? joined(items, told, { askedAtMs, max: rowsMax, search }) : items} />
            <Pager next={next} />
          </>
        )}
      </Answer>
      <Curl path={path} query={search} />
    </Page>
  );
}

function Deliveries({ items }: { readonly items: readonly DeliveryRow[] }) {
  return (
    <Table
      label="Deliveries"
      rows={items}
      keyOf={({ id }) => id}
      columns={{
        Delivery: ({ id, event_type }) => (
          <>
            <Link to="/webhooks/deliveries/$id" params={{ id }}>
              {event_type}
            </Link>
            <Id value={id} />
          </>
        ),
        Status: ({ status }) => <Status tone={deliveryTones[status]}>{status}</Status>,
        Attempts: ({ attempts }) => attempts,
        "Last answer": ({ last_status, last_error }) => last_status ?? last_error ?? "–",
        Endpoint: ({ endpoint_id }) => (
          <EndpointLink id={endpoint_id}>
            <code>{endpoint_id}</code>
          </EndpointLink>
        ),
        Begun: ({ created_at }) => <Time at={created_at} />,
        Next: ({ next_attempt_at }) => (next_attempt_at ? <Time at={next_attempt_at} /> : "–"),
      }}
    />
  );
}
