import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Answer } from "../../parts/answer.tsx";
import { Id, Status, Time } from "../../parts/inline.tsx";
import { ChoiceFilter, Curl, Filters, Pager, TextFilter, TimeFilter, useFilters } from "../../parts/lists.tsx";
import { Page, Table } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, versioned } from "../../session/api.ts";
import { ChosenSource, SourceFilter } from "../source-filter.tsx";

/** The webhooks that a source accepted, newest first. */
export function ReceivedPage() {
  return (
    <Page title="Received" actions={<Link to="/webhooks/bookmarks">Kept under a name</Link>}>
      <ChosenSource>{(id) => <ReceivedOf id={id} />}</ChosenSource>
    </Page>
  );
}

function ReceivedOf({ id }: { readonly id: string }) {
  const [{ source_id: _, ...search }] = useFilters();
  const received = useQuery({
    queryKey: ["received", id, search],
    placeholderData: keepPreviousData,
    refetchInterval: search.cursor === undefined ? 10_000 : false,
    queryFn: async () => {
      const params = { path: { id }, query: { ...search, limit: 25 } as object };
      return (await versioned(api.GET("/api/v1/webhooks/sources/{id}/received", { params }))).data;
    },
  });
  return (
    <>
      <Filters>
        <SourceFilter id={id} />
        <TextFilter name="event_type" label="Type" />
        <TextFilter name="delivery_id" label="Sender's id" />
        <ChoiceFilter name="forwarded" label="Forwarded" choices={["true", "false"]} />
        <TimeFilter name="from" label="From" />
        <TimeFilter name="to" label="Until" />
      </Filters>
      <p className={parts.row}>
        <Link to="/webhooks/sources/$id" params={{ id }}>
          The source
        </Link>
        <Link to="/webhooks/rejections" search={{ source_id: id }}>
          What it rejected
        </Link>
        <Link to="/webhooks/sources/$id/replays" params={{ id }}>
          Publish again
        </Link>
      </p>
      <Answer
        query={received}
        what="received webhooks"
        isEmpty={({ items }) => items.length === 0}
        empty={
          <p>
            {Object.keys(search).length > 0
              ? "No received webhook matches these filters."
              : "Nothing was received yet, or it is past its retention. Rejected webhooks are on a page of their own."}
          </p>
        }
      >
        {({ items, next_cursor: next }) => (
          <>
            <Table
              label="Received webhooks"
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: "Webhook",
                  cell: ({ id: ref, event_type }) => (
                    <>
                      <Link to="/webhooks/sources/$id/received/$ref" params={{ id, ref }}>
                        {event_type ?? "without a type"}
                      </Link>
                      <Id value={ref} />
                    </>
                  ),
                },
                {
                  name: "Sender's id",
                  cell: ({ delivery_id, same_content_as }) => (
                    <>
                      <code>{delivery_id}</code>
                      {same_content_as && <div className={parts.quiet}>same content as {same_content_as}</div>}
                    </>
                  ),
                },
                {
                  name: "Forwarded",
                  cell: ({ forwarded }) => (
                    <Status tone={forwarded ? "good" : "off"}>{forwarded ? "forwarded" : "kept only"}</Status>
                  ),
                },
                { name: "Bytes", cell: ({ body_bytes }) => body_bytes.toLocaleString() },
                { name: "Received", cell: ({ received_at }) => <Time at={received_at} /> },
              ]}
            />
            <Pager next={next} />
          </>
        )}
      </Answer>
      <Curl path={`api/v1/webhooks/sources/${id}/received`} query={search} />
    </>
  );
}
