import type { AuditEntryResource } from "@signalbox/contracts";

/** A stored audit entry. Ids are UUIDv7, so their order is the order of time. */
export interface AuditEntry {
  readonly id: string;
  readonly accountId: string;
  readonly action: string;
  readonly outcome: string;
  readonly fields: readonly string[];
  readonly reason: string | null;
  readonly subject: string | null;
  readonly actorKind: string;
  readonly actorAccountId: string | null;
  readonly actorCredential: string;
  readonly actorAddress: string | null;
  readonly requestId: string | null;
  readonly createdAt: Date;
}

type Actor = AuditEntryResource["actor"];

/** Shows the whole entry to administrators. */
export function viewAuditEntry(entry: AuditEntry): AuditEntryResource {
  return {
    id: entry.id,
    account_id: entry.accountId,
    action: entry.action,
    outcome: entry.outcome as AuditEntryResource["outcome"],
    fields: [...entry.fields],
    reason: entry.reason,
    subject: entry.subject,
    actor: {
      kind: entry.actorKind as Actor["kind"],
      account_id: entry.actorAccountId,
      credential: entry.actorCredential,
      address: entry.actorAddress,
    },
    request_id: entry.requestId,
    created_at: entry.createdAt.toISOString(),
  };
}

/** Shows the entry to the account's owner, without an administrator's credential and address. */
export function viewOwnAuditEntry(entry: AuditEntry): AuditEntryResource {
  const view = viewAuditEntry(entry);
  if (entry.actorAccountId === entry.accountId) return view;
  return { ...view, actor: { ...view.actor, credential: null, address: null } };
}
