import { Link } from "@tanstack/react-router";
import { LiveStatus } from "../../live/live-status.tsx";
import { readUntold } from "../../live/read-every.ts";
import { useLiveReads } from "../../live/use-live-reads.ts";
import { Button } from "../../parts/button.tsx";
import { Id, Time } from "../../parts/inline.tsx";
import { Listing, useList } from "../../parts/listing.tsx";
import { Curl, Filters, TextFilter, TimeFilter, useFilters } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import { api, dataOf, useMay } from "../../session/api.ts";
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
  const events = useList(
    ["events", query],
    () => dataOf(api.GET(`/${path}`, { params: { query: { ...query, limit: 25 } as object } })),
    { refetchInterval: readUntold(live, isNow) },
  );
  return (
    <Page
      title="Events"
      actions={
        <>
          {isNow && <LiveStatus live={live} />}
          {mayPublish && !publish && (
            <Button label="Publish a test event" className="main" onClick={() => change({ publish: "yes" })} />
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
      <Listing
        query={events}
        what="events"
        empty="No event is here. Events are kept until their retention ends."
        label="Events"
        columns={{
          Type: ({ type }) => (
            <Link to="/webhooks/event-types" search={{ name: type }}>
              {type}
            </Link>
          ),
          Event: ({ id }) => <Id value={id} />,
          Published: ({ created_at }) => <Time at={created_at} />,
          Deliveries: ({ id }) => (
            <Link to="/webhooks/deliveries" search={{ event_id: id }}>
              show
            </Link>
          ),
        }}
      />
      <Curl path={path} query={query} />
    </Page>
  );
}
