import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { Code } from "../../parts/code.tsx";
import { Action } from "../../parts/dialog.tsx";
import { Id, Status, Time } from "../../parts/inline.tsx";
import { OnePage, Pairs, Panel } from "../../parts/page.tsx";
import { api, useIsPortal, useMay } from "../../session/api.ts";
import { EndpointLink, EventDeliveriesLink, WhyLink } from "../links.tsx";
import { type Delivery, deliveryQuery } from "../webhooks.ts";
import { Attempts } from "./attempts.tsx";

/** One delivery from its event to its end: what was sent, what came back, what was decided, what comes next. */
export function DeliveryPage() {
  const { id } = useParams({ from: "/webhooks/deliveries/$id" });
  const delivery = useQuery(deliveryQuery(id));
  const mayWrite = useMay("webhooks:write");
  const isPortal = useIsPortal();
  const isWaiting = delivery.data?.status === "pending" || delivery.data?.status === "held";
  return (
    <OnePage
      title="Delivery"
      query={delivery}
      what="delivery"
      path={`api/v1/webhooks/deliveries/${id}`}
      expand="event,last_attempt"
      actions={
        <>
          {mayWrite && delivery.data && (
            <Action label="Send again" what="delivery" kind="main" run={() => api.webhookDeliveries.retryMany(id)} />
          )}
          {mayWrite && isWaiting && (
            <Action
              label="Cancel the delivery"
              dismiss="Keep it waiting"
              what="delivery"
              kind="danger"
              confirm="It is not attempted again. It stays in the list and can be sent again later."
              run={() => api.webhookDeliveries.cancel(id)}
            />
          )}
          {!isPortal && <WhyLink id={id} />}
        </>
      }
    >
      {(found) => (
        <>
          <Summary delivery={found} />
          <Attempts delivery={found} />
          <Event delivery={found} />
        </>
      )}
    </OnePage>
  );
}

function Summary({ delivery }: { readonly delivery: Delivery }) {
  const { id, status, event_type, endpoint_id, attempts, created_at, next_attempt_at } = delivery;
  return (
    <Panel title="State">
      <Pairs
        items={[
          ["Status", <Status key="">{status}</Status>],
          ["Meaning", meanings[status]],
          ["Delivery", <Id key="" value={id} why={false} />],
          ["Event type", event_type],
          ["Endpoint", <EndpointLink key="" id={endpoint_id} />],
          ["Created", <Time key="" at={created_at} />],
          ["Attempts", String(attempts)],
          ["Last error", failureText(delivery)],
          ["Next attempt", next_attempt_at ? <Time key="" at={next_attempt_at} /> : "none"],
        ]}
      />
    </Panel>
  );
}

/** Says why the last attempt failed; an answer is a failure too. */
const failureText = ({ last_error, last_status }: Delivery): string =>
  last_error ?? (last_status !== null && last_status >= 300 ? `HTTP ${last_status}` : "none");

const meanings: Readonly<Record<Delivery["status"], string>> = {
  pending: "It waits for its next attempt.",
  held: "It waits until its endpoint or its account may receive again, or until an earlier event with its order key has gone out.",
  parked: "It was set aside and goes out when somebody sends it again.",
  succeeded: "The receiver answered with 2xx.",
  exhausted: "All attempts failed. Fix the receiver, then send it again.",
  cancelled: "It was cancelled before it was delivered. You can still send it again.",
};

const Event = ({ delivery: { event, event_id } }: { readonly delivery: Delivery }) => (
  <Panel title="Event" actions={<EventDeliveriesLink id={event_id}>All deliveries</EventDeliveriesLink>}>
    <Id value={event_id} />
    {event ? (
      <>
        <p>
          Published <Time at={event.created_at} />
        </p>
        <details>
          <summary>Body</summary>
          <Code text={event.body} label="body of the event" />
        </details>
      </>
    ) : (
      <p>Its content is no longer stored; it is past the retention of events.</p>
    )}
  </Panel>
);
