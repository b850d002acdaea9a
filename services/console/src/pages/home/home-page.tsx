import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { LiveStatus } from "../../live/live-status.tsx";
import { type Live, readEvery, readUntold } from "../../live/read-every.ts";
import { useLiveReads } from "../../live/use-live-reads.ts";
import { Answer } from "../../parts/answer.tsx";
import { Bars } from "../../parts/bars.tsx";
import { Id, Time } from "../../parts/inline.tsx";
import { PanelList } from "../../parts/listing.tsx";
import { Page, Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { durationText, shareText } from "../../parts/time-text.ts";
import { api, dataOf, useCredential, useMay } from "../../session/api.ts";
import { EndpointStatus } from "../endpoints/endpoints-page.tsx";
import { EndpointLink, EventDeliveriesLink } from "../links.tsx";
import { dayQuery, publishedEvents } from "../webhooks.ts";
import { Checklist } from "./checklist.tsx";

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
        <p>Your permissions show no webhooks. Ask an administrator of your account for the scope webhooks:read.</p>
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
        {({ buckets, delivered, attempts, p95Ms, oldestDueAt }) => (
          <>
            <p>
              <strong>{shareText(delivered, attempts)}</strong>
              {p95Ms !== null && <>, 95 % within {durationText(p95Ms)}</>}
              {oldestDueAt && (
                <>
                  ; the oldest waiting delivery was due <Time at={oldestDueAt} />
                </>
              )}
            </p>
            <Bars buckets={buckets} label="Attempts by hour" height={64} />
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
    read={() => dataOf(api.GET("/api/v1/webhooks/endpoints", { params: { query: { failing: "true", limit: 10 } } }))}
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
    read={() => dataOf(api.GET("/api/v1/webhooks/events", { params: { query: { limit: 8 } } }))}
    empty="No event was published yet."
    columns={{
      Type: ({ type }) => <code className={parts.quiet}>{type}</code>,
      Event: ({ id }) => <Id value={id} />,
      Time: ({ created_at }) => <Time at={created_at} />,
      Deliveries: ({ id }) => <EventDeliveriesLink id={id}>show</EventDeliveriesLink>,
    }}
  />
);
