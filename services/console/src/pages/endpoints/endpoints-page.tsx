import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bars } from "../../parts/bars.tsx";
import { Id, Status, Time } from "../../parts/inline.tsx";
import { Listing, useList } from "../../parts/listing.tsx";
import { ChoiceFilter, Curl, Filters, TextFilter, useFilters } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { durationText, shareText } from "../../parts/time-text.ts";
import { api, dataOf, useIsPortal, useMay } from "../../session/api.ts";
import { EndpointLink } from "../links.tsx";
import { type Day, dayQuery, type Endpoint, endpointTones } from "../webhooks.ts";

const path = "api/v1/webhooks/endpoints";

/** The endpoints of the account, each with its last day. */
export function EndpointsPage() {
  const [search] = useFilters();
  const isPortal = useIsPortal();
  const mayAdd = useMay("webhooks:write") && !isPortal;
  const query = { ...search, limit: 20 };
  const endpoints = useList(["endpoints", query], () =>
    dataOf(api.GET(`/${path}`, { params: { query: query as object } })),
  );
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
      <Filters>
        <TextFilter name="text" label="Text" />
        <ChoiceFilter name="status" label="Status" choices={["enabled", "paused", "disabled"]} />
        <ChoiceFilter name="failing" label="Failing" choices={["true", "false"]} />
        <ChoiceFilter name="type" label="Type" choices={["push", "pull"]} />
      </Filters>
      <Listing
        query={endpoints}
        what="endpoints"
        empty={<NoEndpoints isFiltered={Object.keys(search).length > 0} mayAdd={mayAdd} />}
        label="Endpoints"
        columns={{
          Endpoint: (endpoint) => <Name endpoint={endpoint} />,
          Status: ({ status }) => <Status tone={endpointTones[status]}>{status}</Status>,
          Delivered: ({ id }) => <Figure id={id} show={(day) => shareText(day.delivered, day.attempts)} />,
          p95: ({ id }) => <Figure id={id} show={({ p95Ms }) => (p95Ms === null ? "–" : durationText(p95Ms))} />,
          "Oldest due": ({ id }) => (
            <Figure id={id} show={({ oldestDueAt }) => (oldestDueAt ? <Time at={oldestDueAt} /> : "–")} />
          ),
          "24 hours": ({ id }) => (
            <Figure id={id} show={({ buckets }) => <Bars buckets={buckets} label="Attempts" />} />
          ),
        }}
      />
      <Curl path={path} query={search} />
    </Page>
  );
}

function Name({ endpoint: { id, url, description, type } }: { readonly endpoint: Endpoint }) {
  return (
    <>
      <EndpointLink id={id}>{type === "pull" ? "pull endpoint" : url}</EndpointLink>
      {description && <div className={parts.quiet}>{description}</div>}
      <Id value={id} />
    </>
  );
}

/** A figure of the last day, which comes after the list. */
function Figure({ id, show }: { readonly id: string; readonly show: (day: Day) => React.ReactNode }) {
  const { data, isError } = useQuery(dayQuery(id));
  if (isError) return <span className={parts.quiet}>not known</span>;
  return data ? show(data) : <span className={parts.quiet}>…</span>;
}

function NoEndpoints({ isFiltered, mayAdd }: { readonly isFiltered: boolean; readonly mayAdd: boolean }) {
  if (isFiltered) return <p>No endpoint matches these filters.</p>;
  return (
    <>
      <p>There is no endpoint yet. An endpoint is the address to which events are sent, signed with its secret.</p>
      {mayAdd && <Link to="/webhooks/endpoints/new">Add an endpoint</Link>}
    </>
  );
}
