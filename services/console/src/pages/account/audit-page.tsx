import { Id, Status, Time } from "../../parts/inline.tsx";
import { Listing, useList } from "../../parts/listing.tsx";
import { ChoiceFilter, Curl, Filters, TextFilter, TimeFilter, useFilters } from "../../parts/lists.tsx";
import parts from "../../parts/parts.module.css";
import { api, dataOf } from "../../session/api.ts";
import { AccountFrame } from "./account-frame.tsx";

const readAudit = (query: object) => dataOf(api.GET("/api/account/audit", { params: { query } }));

type Entry = Awaited<ReturnType<typeof readAudit>>["items"][number];

/** The changes of the account with their times and authors, and what was refused. */
export function AuditPage() {
  const [search] = useFilters();
  const query = { ...search, limit: 50 };
  const audit = useList(["audit", query], () => readAudit(query));
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
      <Listing
        query={audit}
        what="audit"
        empty={Object.keys(search).length > 0 ? "No entry matches these filters." : "Nothing has happened yet."}
        label="Audit"
        columns={{
          When: ({ created_at, request_id }) => (
            <>
              <Time at={created_at} />
              {request_id && <Id value={request_id} why={false} />}
            </>
          ),
          What: (entry) => <What entry={entry} />,
          Outcome: ({ outcome }) => <Status tone={outcome === "done" ? "good" : "failed"}>{outcome}</Status>,
          Subject: ({ subject }) => (subject ? <Id value={subject} /> : "the account"),
          Who: (entry) => <Who entry={entry} />,
        }}
      />
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
