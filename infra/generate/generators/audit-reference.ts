import { auditActions } from "@signalbox/contracts";
import { serviceDoors } from "../access/service-doors.ts";
import { writesOf } from "../access/writes.ts";
import type { Generator } from "../generator.ts";

/** The page of audit actions, with their operations. */
export const auditReference: Generator = {
  name: "audit reference",
  kind: "committed",
  folders: async () => [],
  generate: async () => {
    const writes = (await Promise.all((await serviceDoors()).map(writesOf))).flat();
    const rows = Object.entries(auditActions).map(([action, { meaning, subject, keptFor }]) => {
      const by = writes.filter(({ actions }) => actions?.some((one) => one === action));
      const operations = by.map(({ operation }) => `\`${operation}\``).join(", ");
      const readers = keptFor === "owner" ? "the owner" : "who did it";
      return `| \`${action}\` | ${meaning} | ${subject ?? "–"} | ${readers} | ${operations || "–"} |`;
    });
    return new Map([["docs/reference/audit.md", page(rows)]]);
  },
};

function page(rows: readonly string[]): string {
  return `# Audit entries

Every change by a caller leaves an entry in the audit of an account, written in the transaction of the change, in any
service. The services send entries to account as \`audit.recorded\`; they can be read within a second. An entry has the actor
(account, credential, address), the action (name, id of the subject, names of fields), the time, the request, and the outcome: done or
refused. It never contains a value or a secret. Requests without a change leave no entry; nor do deliveries and received webhooks,
which have lists of their own.

| read at | by |
|---|---|
| \`GET /api/account/audit/\`, \`viewer { auditLog }\` | the owner, without the credentials and addresses of administrators |
| \`GET /api/accounts/{account_id}/audit/\`, \`account(id) { auditLog }\` | administrators |
| \`GET /api/accounts/audit/\`, \`accountsAuditLog\` | administrators, over all accounts |

All of them accept \`action\`, \`outcome\`, \`subject\`, \`actor\` (the id of an account, key, client or token), \`since\` and \`until\`, and
page by cursor. Administrators read every entry; the table lists the other readers.

| action | what was done | subject | read by | operations |
|---|---|---|---|---|
${rows.join("\n")}

## Refusals

A 403 of a known caller is an entry with \`outcome: refused\`, in the audit of the caller. Its action is the declared operation,
such as \`POST /api/v1/webhooks/endpoints\` or \`Mutation.setProperty\`, its reason the code of the refusal. Wrong codes and secrets, and
ended keys and clients, have actions of their own. A flood of them does not fill the audit: the same refusal of a credential is
one entry a minute, and a credential has at most 20 different ones; then \`audit.limit\` says that the rest of the minute is not listed.
Unlisted ones are counted in \`signalbox_audit_refusals_left_out_total\`. Requests of unknown callers (401) are in the request logs.
`;
}
