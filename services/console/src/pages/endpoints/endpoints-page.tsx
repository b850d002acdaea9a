import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bars } from "../../parts/bars.tsx";
import { Id, Status, Time } from "../../parts/inline.tsx";
import { choice } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { ResourceList } from "../../parts/resource-list.tsx";
import { durationText, percentOf } from "../../parts/time-text.ts";
import { api, useIsPortal, useMay } from "../../session/api.ts";
import { EndpointLink } from "../links.tsx";
import { type Day, dayQuery, type Endpoint } from "../webhooks.ts";

/** The endpoints of the account, each with its last day. */
export function EndpointsPage() {
  const isPortal = useIsPortal();
  const mayAdd = useMay("webhooks:write") && !isPortal;
  return (
    <Page
      title="Endpoints"
      actions={
        mayAdd && (
          <Link to="/webhooks/endpoints/new" className="main">
            Add an endpoint
          </Link>
        )
      }
    >
      <ResourceList
        label="Endpoints"
        noun="endpoint"
        path="api/v1/webhooks/endpoints"
        read={(query) => api.webhookEndpoints.list(query)}
        filters={{
          text: "Text",
          status: choice("Status", ["enabled", "paused", "disabled"]),
          failing: choice("Failing", ["true", "false"]),
          type: choice("Type", ["push", "pull"]),
        }}
        empty={
          <>
            <p>
              There is no endpoint yet. An endpoint is the address to which events are sent, signed with its secret.
            </p>
            {mayAdd && <Link to="/webhooks/endpoints/new">Add an endpoint</Link>}
          </>
        }
        columns={{
          Endpoint: (endpoint) => <Name endpoint={endpoint} />,
          Status: (endpoint) => <EndpointStatus endpoint={endpoint} />,
          Delivered: ({ id }) => <Figure id={id} show={(day) => percentOf(day.delivered, day.attempts)} />,
          p95: ({ id }) => <Figure id={id} show={({ p95Ms }) => (p95Ms === null ? "–" : durationText(p95Ms))} />,
          "Oldest due": ({ id }) => (
            <Figure id={id} show={({ oldestDueAt }) => (oldestDueAt ? <Time at={oldestDueAt} /> : "–")} />
          ),
          "24 hours": ({ id }) => (
            <Figure id={id} show={({ buckets }) => <Bars buckets={buckets} label="Attempts" />} />
          ),
        }}
      />
    </Page>
  );
}

const Name = ({ endpoint: { id, url, description, type } }: { readonly endpoint: Endpoint }) => (
  <>
    <EndpointLink id={id}>{type === "pull" ? "pull endpoint" : url}</EndpointLink>
    {description && <div className={parts.quiet}>{description}</div>}
    <Id value={id} />
  </>
);

/** The status of an endpoint: one that is enabled and has only failed for a while is not well. */
export function EndpointStatus({ endpoint: { id, status } }: { readonly endpoint: Pick<Endpoint, "id" | "status"> }) {
  const { data: day } = useQuery(dayQuery(id));
  if (status === "enabled" && day?.failingSince) return <Status tone="failed">failing</Status>;
  return <Status>{status}</Status>;
}

/** Says how long attempts took, and since when the oldest delivery waits. */
export const Waits = ({ day: { p95Ms, oldestDueAt }, oldest }: { readonly day: Day; readonly oldest: string }) => (
  <>
    {p95Ms !== null && <>, 95 % within {durationText(p95Ms)}</>}
    {oldestDueAt && (
      <>
        ; {oldest} was due <Time at={oldestDueAt} />
      </>
    )}
  </>
);

/** A figure of the last day, which comes after the list. */
function Figure({ id, show }: { readonly id: string; readonly show: (day: Day) => React.ReactNode }) {
  const { data, isError } = useQuery(dayQuery(id));
  if (isError) return <span className={parts.quiet}>unknown</span>;
  return data ? show(data) : <span className={parts.quiet}>…</span>;
}
