import { LiveStatus } from "../../live/live-status.tsx";
import { readUntold } from "../../live/read-every.ts";
import { useLiveReads } from "../../live/use-live-reads.ts";
import { Button } from "../../parts/button.tsx";
import { Id, Time } from "../../parts/inline.tsx";
import { timeRange, useFilters } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import { ResourceList } from "../../parts/resource-list.tsx";
import { api, dataOf, useMay } from "../../session/api.ts";
import { EventDeliveriesLink, EventTypeLink } from "../links.tsx";
import { publishedEvents } from "../webhooks.ts";
import { PublishEvent } from "./publish-event.tsx";

/** The events of the account, newest first, and the form that publishes one. */
export function EventsPage() {
  const [{ publish, cursor }, change] = useFilters();
  const mayPublish = useMay("events:publish");
  const isNow = cursor === undefined;
  const live = useLiveReads(publishedEvents, "events", isNow);
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
      <ResourceList
        label="Events"
        noun="event"
        path="api/v1/webhooks/events"
        read={(query) => dataOf(api.GET("/api/v1/webhooks/events", { params: { query } }))}
        everyMs={readUntold(live)}
        filters={{ type: "Event type", ...timeRange }}
        empty="No event is here. Events are kept until their retention ends."
        columns={{
          Type: ({ type }) => <EventTypeLink id={type}>{type}</EventTypeLink>,
          Event: ({ id }) => <Id value={id} />,
          Published: ({ created_at }) => <Time at={created_at} />,
          Deliveries: ({ id }) => <EventDeliveriesLink id={id}>show</EventDeliveriesLink>,
        }}
      />
    </Page>
  );
}
