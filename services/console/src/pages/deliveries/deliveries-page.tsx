import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Answer } from "../../parts/answer.tsx";
import { Id, Status, Time } from "../../parts/inline.tsx";
import { ChoiceFilter, Curl, Filters, Pager, TextFilter, TimeFilter, useFilters } from "../../parts/lists.tsx";
import { Page, Table } from "../../parts/page.tsx";
import { api, versioned } from "../../session/api.ts";
import { type Delivery, deliveryTones } from "../webhooks.ts";

const path = "api/v1/webhooks/deliveries";

/** Deliveries by endpoint, event, status, type and time. A delivery's own id opens it at once. */
export function DeliveriesPage() {
  const [search] = useFilters();
  const query = { ...search, limit: 25 };
  const deliveries = useQuery({
    queryKey: ["deliveries", query],
    placeholderData: keepPreviousData,
    refetchInterval: search.cursor === undefined ? 10_000 : false,
    queryFn: async () => (await versioned(api.GET(`/${path}`, { params: { query: query as object } }))).data,
  });
  return (
    <Page title="Deliveries">
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
        isEmpty={({ items }) => items.length === 0}
        empty={
          <p>
            {Object.keys(search).length > 0
              ? "No delivery matches these filters."
              : "Nothing was sent yet. A delivery begins when an event meets an endpoint that wants its type."}
          </p>
        }
      >
        {({ items, next_cursor: next }) => (
          <>
            <Deliveries items={items} />
            <Pager next={next} />
          </>
        )}
      </Answer>
      <Curl path={path} query={search} />
    </Page>
  );
}

function Deliveries({ items }: { readonly items: readonly Delivery[] }) {
  return (
    <Table
      label="Deliveries"
      rows={items}
      keyOf={({ id }) => id}
      columns={[
        {
          name: "Delivery",
          cell: ({ id, event_type }) => (
            <>
              <Link to="/webhooks/deliveries/$id" params={{ id }}>
                {event_type}
              </Link>
              <Id value={id} />
            </>
          ),
        },
        { name: "Status", cell: ({ status }) => <Status tone={deliveryTones[status]}>{status}</Status> },
        { name: "Attempts", cell: ({ attempts }) => attempts },
        { name: "Last answer", cell: ({ last_status, last_error }) => last_status ?? last_error ?? "–" },
        {
          name: "Endpoint",
          cell: ({ endpoint_id }) => (
            <Link to="/webhooks/endpoints/$id" params={{ id: endpoint_id }}>
              <code>{endpoint_id}</code>
            </Link>
          ),
        },
        { name: "Begun", cell: ({ created_at }) => <Time at={created_at} /> },
        { name: "Next", cell: ({ next_attempt_at }) => (next_attempt_at ? <Time at={next_attempt_at} /> : "–") },
      ]}
    />
  );
}
