import type { AuditEntry } from "@signalbox/client";
import { Id, Status, Time } from "../../parts/inline.tsx";
import { choice, moment } from "../../parts/lists.tsx";
import parts from "../../parts/parts.module.css";
import { ResourceList } from "../../parts/resource-list.tsx";
import { api } from "../../session/api.ts";
import { AccountFrame } from "./account-frame.tsx";

/** The changes of the account with their times and authors, and what was refused. */
export const AuditPage = () => (
  <AccountFrame title="Audit">
    <ResourceList
      label="Audit"
      noun="entry"
      path="api/account/audit"
      read={(query) => api.auditLog.list(query)}
      pageSize={50}
      filters={{
        action: "Action",
        outcome: choice("Outcome", ["done", "refused"]),
        subject: "Subject id",
        actor: "Actor id",
        since: moment("From"),
        until: moment("Until"),
      }}
      empty="No entries yet."
      columns={{
        Time: ({ created_at, request_id }) => (
          <>
            <Time at={created_at} />
            {request_id && <Id value={request_id} why={false} />}
          </>
        ),
        Action: (entry) => <What entry={entry} />,
        Outcome: ({ outcome }) => <Status>{outcome}</Status>,
        Subject: ({ subject }) => (subject ? <Id value={subject} /> : "the account"),
        Actor: (entry) => <Who entry={entry} />,
      }}
    />
  </AccountFrame>
);

const What = ({ entry: { action, fields, reason } }: { readonly entry: AuditEntry }) => (
  <>
    <code>{action}</code>
    {fields.length > 0 && <div className={parts.quiet}>{fields.join(", ")}</div>}
    {reason && <div className={parts.quiet}>{reason}</div>}
  </>
);

const kinds: Readonly<Record<AuditEntry["actor"]["kind"], string>> = {
  owner: "the account itself",
  administrator: "an administrator",
  system: "Signalbox",
};

const Who = ({ entry: { actor } }: { readonly entry: AuditEntry }) => (
  <>
    {kinds[actor.kind]}
    {actor.credential && <Id value={actor.credential} why={false} />}
    {actor.address && <div className={parts.quiet}>from {actor.address}</div>}
  </>
);
