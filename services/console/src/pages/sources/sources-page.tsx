import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Answer } from "../../parts/answer.tsx";
import { fullDay, StackedBars } from "../../parts/bars.tsx";
import { Id, Status } from "../../parts/inline.tsx";
import { ChoiceFilter, Curl, Filters, Pager, TextFilter, useFilters } from "../../parts/lists.tsx";
import { Page, Table } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, useMay, versioned } from "../../session/api.ts";
import { noWebhooks, type Source, type SourceDay, sourceDayQuery, sourceTones, webhookSeries } from "../sources.ts";

const path = "api/v1/webhooks/sources";

/** The senders that post webhooks to the account, each with its last day. */
export function SourcesPage() {
  const [search] = useFilters();
  const mayWrite = useMay("webhooks:write");
  const query = { ...search, limit: 20 };
  const sources = useQuery({
    queryKey: ["sources", query],
    placeholderData: keepPreviousData,
    queryFn: async () => (await versioned(api.GET(`/${path}`, { params: { query: query as object } }))).data,
  });
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
      <Answer
        query={sources}
        what="sources"
        isEmpty={({ items }) => items.length === 0}
        empty={<NoSources isFiltered={Object.keys(search).length > 0} mayWrite={mayWrite} />}
      >
        {({ items, next_cursor: next }) => (
          <>
            <Sources items={items} />
            <Pager next={next} />
          </>
        )}
      </Answer>
      <Curl path={path} query={search} />
    </Page>
  );
}

function Sources({ items }: { readonly items: readonly Source[] }) {
  return (
    <Table
      label="Sources"
      rows={items}
      keyOf={({ id }) => id}
      columns={[
        { name: "Source", cell: (source) => <Name source={source} /> },
        { name: "Status", cell: ({ status }) => <Status tone={sourceTones[status]}>{status}</Status> },
        { name: "Accepted", cell: ({ id }) => <Figure id={id} show={({ accepted }) => accepted.toLocaleString()} /> },
        {
          name: "Duplicates",
          cell: ({ id }) => <Figure id={id} show={({ duplicates }) => duplicates.toLocaleString()} />,
        },
        {
          name: "Rejected",
          cell: ({ id }) => (
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
        },
        {
          name: "24 hours",
          cell: ({ id }) => (
            <Figure
              id={id}
              show={({ buckets }) => (
                <StackedBars buckets={fullDay(buckets, noWebhooks)} series={webhookSeries} label="Webhooks" />
              )}
            />
          ),
        },
      ]}
    />
  );
}

function Name({ source: { id, name, scheme } }: { readonly source: Source }) {
  return (
    <>
      <Link to="/webhooks/sources/$id" params={{ id }}>
        {name}
      </Link>
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
