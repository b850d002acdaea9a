import { auditActions } from "@signalbox/contracts";
import { serviceDoors, writesOf } from "../access/service-doors.ts";
import { fileGenerator } from "../generator.ts";

export const auditReference = fileGenerator("docs/reference/audit.md", async () => {
  const writes = (await serviceDoors()).flatMap(writesOf);
  const rows = Object.entries(auditActions).map(([action, { meaning, subject, keptFor }]) => {
    const operations = writes.filter(({ actions }) => actions.some((one) => one === action));
    const routes = operations.filter(({ operation }) => operation.includes(" "));
    const shown = (routes.length > 0 ? routes : operations).map(({ operation }) => `\`${operation}\``);
    const isUsual = subject === null || subject === action.slice(0, action.indexOf("."));
    const notes = [
      ...(isUsual ? [] : [`Subject: ${subject}.`]),
      ...(shown.length > 0 ? [`(${shown.join(", ")})`] : []),
    ];
    return `- \`${action}\`${keptFor === "owner" ? "" : "\\*"}: ${[meaning, ...notes].join(" ")}`;
  });
  const unaudited = Map.groupBy(
    writes.filter((write) => write.unaudited !== null),
    (write) => write.unaudited,
  );
  const silent = [...unaudited].map(
    ([why, same]) => `- ${same.map(({ operation }) => `\`${operation}\``).join(", ")}: ${why}`,
  );
  return page(rows, silent);
});

function page(rows: readonly string[], silent: readonly string[]): string {
  return `# Audit entries

Every change by a caller leaves an entry in the audit of an account, written in the transaction of the change, in any service, and readable
within a second. An entry has the actor (account, credential, address), the action (name, id of the subject, names of fields), the time, the
request, and the outcome: done or refused. It never contains a value or a secret. Of requests without a change, those leave an entry that give
access (a signed URL, a shown secret, an export), and those by which administrators read other accounts.

- The owner reads \`GET /api/account/audit/\` (\`viewer { auditLog }\`), without the credentials and addresses of administrators.
- Administrators read \`GET /api/accounts/{account_id}/audit/\` (\`account(id) { auditLog }\`), and over all accounts
  \`GET /api/accounts/audit/\` (\`accountsAuditLog\`).

All accept \`action\`, \`outcome\`, \`subject\`, \`actor\` (the id of an account, key, client or token), \`since\` and \`until\`, and page by cursor.

## Actions

An entry is read by the owner of the account, one with * by the caller who did it. The subject is what the action names before its dot; actions on
the account itself have none. Operations are in parentheses; mutations leave the entries of their routes, and are listed where there is no route.

${rows.join("\n")}

## Reads by administrators

The same read by the same credential is one entry a minute, with the start of its minute as its time. A read of the management \`env\` names the
service whose port answered (\`account\` where one process runs all).

## Published events

Publications are one entry per credential and hour, whose reason has the count, without repetitions, and the start of the hour. Counts are saved
every five seconds: a killed instance loses the last ones. A count that could not be saved in time is another entry of the same hour.

## Writes without an entry

${silent.join("\n")}

## Refusals

A 403 of a known caller is an entry with \`outcome: refused\` in the caller's audit. Its action is the declared operation, such as
\`POST /api/v1/webhooks/endpoints\` or \`Mutation.setProperty\`, its reason the code of the refusal. Wrong codes and secrets, and ended keys and
clients, have actions of their own. The same refusal of a credential is one entry a minute, and a credential has at most 20 different ones; then
\`audit.limit\` says that the rest of the minute is left out. Requests of unknown callers (401) are in the request logs.
`;
}
