import type { WhyStep } from "@signalbox/contracts";
import { hours, minutes, timeOfPublicId } from "@signalbox/core";
import { aboutOf, leftOut, stepsOf, type WhyFinder } from "@signalbox/service";
import type { AccountService } from "../context/account-service.ts";
import { type AuditEntry, timeOfId } from "./audit-entry.ts";
import { listAuditEntries, type StoreFilter } from "./audit-store.ts";

const step = stepsOf("account");
const read = { scopes: ["account:read"] } as const;
const entriesMax = 50;
const shown = { after: null, limit: entriesMax + 1 } as const;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const publicId = /^[a-z]{3}_[0-9A-Za-z]{16,40}$/;

/** Finds who did what to a thing, and what came of a request, for the chain behind an id. */
export function whyAudited(service: AccountService): readonly WhyFinder[] {
  const list = (accountId: string, filter: StoreFilter) =>
    listAuditEntries(service, { accountId, byOwner: true }, shown, filter);
  const dayAgo = () => new Date(service.clock.nowMs() - hours(24));
  return [
    {
      ...read,
      knows: (id) => publicId.test(id) && !id.startsWith("req_"),
      async find({ accountId }, id) {
        const since = timeOfPublicId(id);
        const created = since === null ? {} : { since: new Date(since - minutes(1)) };
        return partOf(accountId, await list(accountId, { subject: id, ...created }));
      },
    },
    {
      ...read,
      // Any text may be the id of a request: clients choose it.
      knows: (id) => (id.startsWith("req_") || !publicId.test(id)) && aboutOf(id) === null,
      find: async ({ accountId }, requestId) =>
        partOf(accountId, await list(accountId, { requestId, since: dayAgo() }), "of a request"),
    },
    {
      ...read,
      knows: (id) => /^[0-9a-f]{32}$/.test(id),
      find: async ({ accountId }, traceId) =>
        partOf(accountId, await list(accountId, { traceId, since: dayAgo() }), "of a request"),
    },
    {
      ...read,
      knows: (id) => uuid.test(id),
      async find({ accountId }, id) {
        const at = timeOfId(id);
        const entries = await list(accountId, { since: new Date(at), until: new Date(at + 1) });
        return partOf(
          accountId,
          entries.filter((entry) => entry.id === id),
          "of a request",
        );
      },
    },
  ];
}

function partOf(accountId: string, entries: readonly AuditEntry[], from: "of a thing" | "of a request" = "of a thing") {
  if (entries.length === 0) return null;
  const next = from === "of a thing" ? [] : entries.flatMap(({ subject }) => subject ?? []);
  const steps = entries.slice(0, entriesMax).toReversed();
  const more = entries.length > entriesMax ? [leftOut("account", "Earlier audit entries")] : [];
  return { steps: [...steps.map((entry) => viewEntry(accountId, entry)), ...more], next };
}

function viewEntry(accountId: string, entry: AuditEntry): WhyStep {
  const { createdAt, subject, action, outcome, reason, fields, actorAccountId, actorCredential } = entry;
  const isOwn = actorAccountId === accountId;
  const changed = fields.length > 0 ? `: ${fields.join(", ")}` : "";
  return step({
    at: createdAt,
    id: subject,
    what: outcome === "refused" ? `${action} was refused${changed}.` : `${action}${changed}.`,
    verdict: outcome === "refused" ? "refused" : "done",
    reason,
    by: isOwn ? actorCredential : null,
    link: "/api/account/audit/",
  });
}
