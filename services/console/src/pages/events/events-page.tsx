import { dataOf } from "@signalbox/client";
import { LiveStatus } from "../../live/live-status.tsx";
import { readUntold } from "../../live/read-every.ts";
import { useLiveReads } from "../../live/use-live-reads.ts";
import { Button } from "../../parts/button.tsx";
import { Form } from "../../parts/form.tsx";
import { Id, Time } from "../../parts/inline.tsx";
import { Curl, timeRange, useFilters } from "../../parts/lists.tsx";
import { Page, Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { objectIn } from "../../parts/read-text.ts";
import { ResourceList } from "../../parts/resource-list.tsx";
import { api, useMay } from "../../session/api.ts";
import { EventDeliveriesLink, EventTypeLink } from "../links.tsx";
import { publishedEvents } from "../webhooks.ts";

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
        read={(query) => api.webhookEvents.list(query)}
        everyMs={readUntold(live)}
        filters={{ type: "Event type", ...timeRange }}
        empty="No events. They are kept until their retention ends."
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

interface Typed {
  readonly type: string;
  readonly data: string;
}

async function publishTyped({ type, data }: Typed) {
  const body = { type: type.trim(), data: objectIn(data, "Data") };
  const sent = { body, bodySerializer: () => eventText({ type, data }) };
  return (await dataOf(api.POST("/api/v1/webhooks/events", sent))).items[0];
}

/** Publishes one event of the account to all endpoints that want its type. */
const PublishEvent = ({ type, onClose }: { readonly type: string; readonly onClose: () => void }) => (
  <Panel title="Publish an event" actions={<Button label="Close" onClick={onClose} />}>
    <Form
      what="event"
      submitLabel="Publish"
      kind="main"
      initial={{ type, data: '{\n  "hello": "world"\n}' }}
      fields={{
        type: { label: "Type", hint: "A name of your own, such as order.paid.", required: true },
        data: { label: "Data", hint: "A JSON object.", rows: 6 },
      }}
      run={publishTyped}
      after={(typed, published) => (
        <>
          <div role="status">{published && <Published event={published} />}</div>
          <Curl method="POST" path="api/v1/webhooks/events" body={eventText(typed)} />
        </>
      )}
    />
  </Panel>
);

const Published = ({
  event: { id, warnings },
}: {
  readonly event: NonNullable<Awaited<ReturnType<typeof publishTyped>>>;
}) => (
  <>
    <p>
      Published. <EventDeliveriesLink id={id}>View deliveries</EventDeliveriesLink>
    </p>
    <Id value={id} />
    {warnings.map(({ pointer, message }) => (
      <p key={`${pointer} ${message}`} className={parts.wait}>
        <code>{pointer}</code> {message}
      </p>
    ))}
  </>
);

/** Writes the event with its data as they were typed: a printed number could be another. */
const eventText = ({ type, data }: Typed): string => `{"type":${JSON.stringify(type.trim())},"data":${data}}`;
