import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { LiveStatus } from "../../live/live-status.tsx";
import { type Live, readEvery, readUntold } from "../../live/read-every.ts";
import { useLiveReads } from "../../live/use-live-reads.ts";
import { Answer } from "../../parts/answer.tsx";
import { Bars } from "../../parts/bars.tsx";
import { Id, Status, Time } from "../../parts/inline.tsx";
import { Page, Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { PanelList } from "../../parts/resource-list.tsx";
import { shareText } from "../../parts/time-text.ts";
import { api, useCredential, useMay } from "../../session/api.ts";
import { EndpointStatus, Waits } from "../endpoints/endpoints-page.tsx";
import { EndpointLink, EventDeliveriesLink } from "../links.tsx";
import { dayQuery, publishedEvents } from "../webhooks.ts";

/** The first page: the last day at a glance, or the way to a first delivery. */
export function HomePage() {
  const isKnown = useCredential().data !== undefined;
  const mayRead = useMay("webhooks:read");
  const live = useLiveReads(publishedEvents, "events progress", mayRead);
  return (
    <Page title="Home" actions={mayRead && <LiveStatus live={live} />}>
      {!isKnown ? (
        <p role="status">Loading your permissions …</p>
      ) : mayRead ? (
        <>
          <Checklist live={live} />
          <LastDay live={live} />
          <FailingEndpoints live={live} />
          <NewestEvents live={live} />
        </>
      ) : (
        <p>
          Your permissions do not include webhooks. Ask an administrator of your account for the scope webhooks:read.
        </p>
      )}
    </Page>
  );
}

interface LiveProps {
  readonly live: Live;
}

function LastDay({ live }: LiveProps) {
  const day = useQuery({ ...dayQuery(null), refetchInterval: readEvery(live) });
  return (
    <Panel title="Last 24 hours" actions={<Link to="/webhooks/deliveries">All deliveries</Link>}>
      <Answer
        query={day}
        what="statistics"
        isEmpty={({ attempts }) => attempts === 0}
        empty={<p>Nothing was sent in the last 24 hours.</p>}
      >
        {(figures) => (
          <>
            <p>
              <strong>{shareText(figures.delivered, figures.attempts)}</strong>
              <Waits day={figures} oldest="the oldest waiting delivery" />
            </p>
            <Bars buckets={figures.buckets} label="Attempts by hour" height={64} />
          </>
        )}
      </Answer>
    </Panel>
  );
}

const FailingEndpoints = ({ live }: LiveProps) => (
  <PanelList
    title="Failing endpoints"
    actions={
      <Link to="/webhooks/endpoints" search={{ failing: "true" }}>
        All failing
      </Link>
    }
    queryKey={["endpoints", "failing"]}
    options={{ refetchInterval: readEvery(live) }}
    read={() => api.webhookEndpoints.list({ failing: "true", limit: 10 })}
    empty="No endpoint is failing."
    columns={{
      Endpoint: ({ id, url }) => <EndpointLink id={id}>{url}</EndpointLink>,
      Status: (endpoint) => <EndpointStatus endpoint={endpoint} />,
      View: ({ id }) => (
        <Link to="/webhooks/deliveries" search={{ endpoint_id: id, status: "exhausted" }}>
          given up
        </Link>
      ),
    }}
  />
);

const NewestEvents = ({ live }: LiveProps) => (
  <PanelList
    title="Newest events"
    actions={<Link to="/webhooks/events">All events</Link>}
    queryKey={["events", "newest"]}
    options={{ refetchInterval: readUntold(live) }}
    read={() => api.webhookEvents.list({ limit: 8 })}
    empty="No event was published yet."
    columns={{
      Type: ({ type }) => <code className={parts.quiet}>{type}</code>,
      Event: ({ id }) => <Id value={id} />,
      Time: ({ created_at }) => <Time at={created_at} />,
      Deliveries: ({ id }) => <EventDeliveriesLink id={id}>show</EventDeliveriesLink>,
    }}
  />
);

/** Reads how far the account is on the way to a first delivery. */
async function readProgress() {
  const [endpoints, events, deliveries] = await Promise.all([
    api.webhookEndpoints.list({ limit: 1 }),
    api.webhookEvents.list({ limit: 1 }),
    api.webhookDeliveries.list({ limit: 1, status: "succeeded" }),
  ]);
  return {
    endpointId: endpoints.items[0]?.id ?? null,
    hasEvent: events.items.length > 0,
    hasDelivery: deliveries.items.length > 0,
  };
}

const isComplete = ({ endpointId, hasDelivery }: Awaited<ReturnType<typeof readProgress>>) =>
  endpointId !== null && hasDelivery;

/** The steps to a first delivery. Each is ticked when its fact is there, and the list goes away with the last. */
function Checklist({ live }: { readonly live: Live }) {
  const { data } = useQuery({
    queryKey: ["progress"],
    queryFn: readProgress,
    refetchInterval: ({ state }) => (live.state === "paused" || (state.data && isComplete(state.data)) ? false : 3_000),
  });
  if (!data || isComplete(data)) return null;
  const { endpointId, hasEvent } = data;
  return (
    <Panel title="Your first delivery">
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
          <Step isDone={false} /> See it <Link to="/webhooks/deliveries">delivered</Link>. This list then disappears.
        </li>
      </ol>
    </Panel>
  );
}

const Step = ({ isDone }: { readonly isDone: boolean }) => (
  <Status tone={isDone ? "good" : "wait"}>{isDone ? "done" : "to do"}</Status>
);
