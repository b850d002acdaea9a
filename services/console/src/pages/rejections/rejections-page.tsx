import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Answer } from "../../parts/answer.tsx";
import { Status, Time } from "../../parts/inline.tsx";
import { ChoiceFilter, Curl, Filters, Pager, TimeFilter, useFilters } from "../../parts/lists.tsx";
import { Page, Table } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, versioned } from "../../session/api.ts";
import { ChosenSource, SourceFilter } from "../source-filter.tsx";
import { reasonNames, wordsOf } from "./reason-words.ts";

/** The webhooks that a source refused, newest first, with the reason of each. */
export function RejectionsPage() {
  return (
    <Page title="Rejected">
      <ChosenSource>{(id) => <RejectionsOf id={id} />}</ChosenSource>
    </Page>
  );
}

function RejectionsOf({ id }: { readonly id: string }) {
  const [{ source_id: _, ...search }] = useFilters();
  const rejections = useQuery({
    queryKey: ["rejections", id, search],
    placeholderData: keepPreviousData,
    refetchInterval: search.cursor === undefined ? 10_000 : false,
    queryFn: async () => {
      const params = { path: { id }, query: { ...search, limit: 25 } as object };
      return (await versioned(api.GET("/api/v1/webhooks/sources/{id}/rejections", { params }))).data;
    },
  });
  return (
    <>
      <Filters>
        <SourceFilter id={id} />
        <ChoiceFilter name="reason" label="Reason" choices={reasonNames} />
        <TimeFilter name="from" label="From" />
        <TimeFilter name="to" label="Until" />
      </Filters>
      <p className={parts.row}>
        <Link to="/webhooks/sources/$id" params={{ id }}>
          The source
        </Link>
        <Link to="/webhooks/received" search={{ source_id: id }}>
          What it received
        </Link>
        <Link to="/webhooks/sources/$id/verify" params={{ id }}>
          Verify a webhook
        </Link>
      </p>
      <Answer
        query={rejections}
        what="rejections"
        isEmpty={({ items }) => items.length === 0}
        empty={
          <p>
            {Object.keys(search).length > 0 ? "No rejection matches these filters." : "Nothing was rejected."} The list
            has the newest; the oldest leave it first.
          </p>
        }
      >
        {({ items, next_cursor: next }) => (
          <>
            <Table
              label="Rejections"
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: "Reason",
                  cell: ({ id: ref, reason }) => (
                    <>
                      <Link to="/webhooks/sources/$id/rejections/$ref" params={{ id, ref }}>
                        {wordsOf(reason).what}
                      </Link>
                      <div className={parts.quiet}>{reason}</div>
                    </>
                  ),
                },
                { name: "Answer", cell: ({ status }) => `HTTP ${status}` },
                { name: "From", cell: ({ address }) => <code>{address}</code> },
                { name: "Kept", cell: (rejection) => <Kept rejection={rejection} /> },
                { name: "Rejected", cell: ({ rejected_at }) => <Time at={rejected_at} /> },
              ]}
            />
            <Pager next={next} />
          </>
        )}
      </Answer>
      <Curl path={`api/v1/webhooks/sources/${id}/rejections`} query={search} />
    </>
  );
}

function Kept({
  rejection: { kept, received_id },
}: {
  readonly rejection: { readonly kept: boolean; readonly received_id: string | null };
}) {
  if (received_id !== null) return <Status tone="good">received later</Status>;
  return <Status tone={kept ? "wait" : "off"}>{kept ? "can be tried again" : "not kept"}</Status>;
}
