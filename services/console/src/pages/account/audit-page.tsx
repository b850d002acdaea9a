import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Answer } from "../../parts/answer.tsx";
import { Id, Status, Time } from "../../parts/inline.tsx";
import { ChoiceFilter, Curl, Filters, Pager, TextFilter, TimeFilter, useFilters } from "../../parts/lists.tsx";
import { Table } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, versioned } from "../../session/api.ts";
import { AccountFrame } from "./account-frame.tsx";

const readAudit = async (query: object) => (await versioned(api.GET("/api/account/audit", { params: { query } }))).data;

type Entry = Awaited<ReturnType<typeof readAudit>>["items"][number];

/** The changes of the account with their times and authors, and what was refused. */
export function AuditPage() {
  const [search] = useFilters();
  const query = { ...search, limit: 50 };
  const audit = useQuery({
    queryKey: ["audit", query],
    placeholderData: keepPreviousData,
    queryFn: () => readAudit(query),
  });
  return (
    <AccountFrame title="Audit">
      <Filters>
        <TextFilter name="action" label="Action" />
        <ChoiceFilter name="outcome" label="Outcome" choices={["done", "refused"]} />
        <TextFilter name="subject" label="Id of what changed" />
        <TextFilter name="actor" label="Id of who did it" />
        <TimeFilter name="since" label="From" />
        <TimeFilter name="until" label="Until" />
      </Filters>
      <Answer
        query={audit}
        what="audit"
        isEmpty={({ items }) => items.length === 0}
        empty={
          <p>{Object.keys(search).length > 0 ? "No entry matches these filters." : "Nothing has happened yet."}</p>
        }
      >
        {({ items, next_cursor: next }) => (
          <>
            <Table
              label="Audit"
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: "When",
                  cell: ({ created_at, request_id }) => (
                    <>
                      <Time at={created_at} />
                      {request_id && <Id value={request_id} why={false} />}
                    </>
                  ),
                },
                { name: "What", cell: (entry) => <What entry={entry} /> },
                {
                  name: "Outcome",
                  cell: ({ outcome }) => <Status tone={outcome === "done" ? "good" : "failed"}>{outcome}</Status>,
                },
                { name: "Subject", cell: ({ subject }) => (subject ? <Id value={subject} /> : "the account") },
                { name: "Who", cell: (entry) => <Who entry={entry} /> },
              ]}
            />
            <Pager next={next} />
          </>
        )}
      </Answer>
      <Curl path="api/account/audit" query={search} />
    </AccountFrame>
  );
}

function What({ entry: { action, fields, reason } }: { readonly entry: Entry }) {
  return (
    <>
      <code>{action}</code>
      {fields.length > 0 && <div className={parts.quiet}>{fields.join(", ")}</div>}
      {reason && <div className={parts.quiet}>{reason}</div>}
    </>
  );
}

const kinds: Readonly<Record<Entry["actor"]["kind"], string>> = {
  owner: "the account itself",
  administrator: "an administrator",
  system: "Signalbox",
};

function Who({ entry: { actor } }: { readonly entry: Entry }) {
  return (
    <>
      {kinds[actor.kind]}
      {actor.credential && <Id value={actor.credential} why={false} />}
      {actor.address && <div className={parts.quiet}>from {actor.address}</div>}
    </>
  );
}
