import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { StackedBars } from "../../parts/bars.tsx";
import { Id, Status } from "../../parts/inline.tsx";
import { Listing, useList } from "../../parts/listing.tsx";
import { ChoiceFilter, Curl, Filters, TextFilter, useFilters } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, dataOf, useMay } from "../../session/api.ts";
import { SourceLink } from "../links.tsx";
import { type Source, type SourceDay, sourceDayQuery, sourceTones, webhookSeries } from "../sources.ts";

const path = "api/v1/webhooks/sources";

/** The senders that post webhooks to the account, each with its last day. */
export function SourcesPage() {
  const [search] = useFilters();
  const mayWrite = useMay("webhooks:write");
  const query = { ...search, limit: 20 };
  const sources = useList(["sources", query], () =>
    dataOf(api.GET(`/${path}`, { params: { query: query as object } })),
  );
  return (
    <Page
      title="Sources"
      actions={
        mayWrite && (
          <Link to="/webhooks/connect" className="main">
            Connect a sender
          </Link>
        )
      }
    >
      <Filters>
        <TextFilter name="text" label="Name or id" />
        <ChoiceFilter name="status" label="Status" choices={Object.keys(sourceTones)} />
      </Filters>
      <Listing
        query={sources}
        what="sources"
        empty={<NoSources isFiltered={Object.keys(search).length > 0} mayWrite={mayWrite} />}
        label="Sources"
        columns={{
          Source: (source) => <Name source={source} />,
          Status: ({ status }) => <Status tone={sourceTones[status]}>{status}</Status>,
          Accepted: ({ id }) => <Figure id={id} show={({ accepted }) => accepted.toLocaleString()} />,
          Duplicates: ({ id }) => <Figure id={id} show={({ duplicates }) => duplicates.toLocaleString()} />,
          Rejected: ({ id }) => (
            <Figure
              id={id}
              show={({ rejected }) =>
                rejected === 0 ? (
                  "0"
                ) : (
                  <Link to="/webhooks/rejections" search={{ source_id: id }}>
                    {rejected.toLocaleString()}
                  </Link>
                )
              }
            />
          ),
          "24 hours": ({ id }) => (
            <Figure
              id={id}
              show={({ buckets }) => <StackedBars buckets={buckets} series={webhookSeries} label="Webhooks" />}
            />
          ),
        }}
      />
      <Curl path={path} query={search} />
    </Page>
  );
}

function Name({ source: { id, name, scheme } }: { readonly source: Source }) {
  return (
    <>
      <SourceLink id={id}>{name}</SourceLink>
      <div className={parts.quiet}>{scheme}</div>
      <Id value={id} />
    </>
  );
}

/** A figure of the last day, which comes after the list. */
function Figure({ id, show }: { readonly id: string; readonly show: (day: SourceDay) => React.ReactNode }) {
  const { data, isError } = useQuery(sourceDayQuery(id));
  if (isError) return <span className={parts.quiet}>not known</span>;
  return data ? show(data) : <span className={parts.quiet}>…</span>;
}

function NoSources({ isFiltered, mayWrite }: { readonly isFiltered: boolean; readonly mayWrite: boolean }) {
  if (isFiltered) return <p>No source matches these filters.</p>;
  return (
    <>
      <p>There is no source yet. A source is the address at which one sender posts webhooks to you.</p>
      {mayWrite && <Link to="/webhooks/connect">Connect a sender</Link>}
    </>
  );
}
