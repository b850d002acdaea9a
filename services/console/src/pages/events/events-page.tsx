import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { LiveStatus } from "../../live/live-status.tsx";
import { readUntold } from "../../live/read-every.ts";
import { useLiveReads } from "../../live/use-live-reads.ts";
import { Answer } from "../../parts/answer.tsx";
import { Id, Time } from "../../parts/inline.tsx";
import { Curl, Filters, Pager, TextFilter, TimeFilter, useFilters } from "../../parts/lists.tsx";
import { Page, Table } from "../../parts/page.tsx";
import { api, useMay, versioned } from "../../session/api.ts";
import { publishedEvents } from "../webhooks.ts";
import { PublishEvent } from "./publish-event.tsx";

const path = "api/v1/webhooks/events";

/** The events of the account, newest first, and the form that publishes one. */
export function EventsPage() {
  const [search, change] = useFilters();
  const { publish, ...query } = search;
  const mayPublish = useMay("events:publish");
  const isNow = search.cursor === undefined;
  const live = useLiveReads(publishedEvents, "events", isNow);
  const events = useQuery({
    queryKey: ["events", query],
    placeholderData: keepPreviousData,
    refetchInterval: readUntold(live, isNow),
    queryFn: async () =>
      (await versioned(api.GET(`/${path}`, { params: { query: { ...query, limit: 25 } as object } }))).data,
  });
  return (
    <Page
      title="Events"
      actions={
        <>
          {isNow && <LiveStatus live={live} />}
          {mayPublish && !publish && (
            <button type="button" className="main" onClick={() => change({ publish: "yes" })}>
              Publish a test event
            </button>
          )}
        </>
      }
    >
      {mayPublish && publish && (
        <PublishEvent type={publish === "yes" ? "test.ping" : publish} onClose={() => change({ publish: undefined })} />
      )}
      <Filters>
        <TextFilter name="type" label="Event type" />
        <TimeFilter name="from" label="From" />
        <TimeFilter name="to" label="Until" />
      </Filters>
      <Answer
        query={events}
        what="events"
        isEmpty={({ items }) => items.length === 0}
        empty={<p>No event is here. Events are kept until their retention ends.</p>}
      >
        {({ items, next_cursor: next }) => (
          <>
            <Table
              label="Events"
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: "Type",
                  cell: ({ type }) => (
                    <Link to="/webhooks/event-types" search={{ name: type }}>
                      {type}
                    </Link>
                  ),
                },
                { name: "Event", cell: ({ id }) => <Id value={id} /> },
                { name: "Published", cell: ({ created_at }) => <Time at={created_at} /> },
                {
                  name: "Deliveries",
                  cell: ({ id }) => (
                    <Link to="/webhooks/deliveries" search={{ event_id: id }}>
                      show
                    </Link>
                  ),
                },
              ]}
            />
            <Pager next={next} />
          </>
        )}
      </Answer>
      <Curl path={path} query={query} />
    </Page>
  );
}
