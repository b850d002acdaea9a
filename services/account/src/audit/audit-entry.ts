import type { AuditEntryResource } from "@signalbox/contracts";

/** An entry of the audit as it is kept. Ids are UUIDv7, so their order is that of time. */
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

/** The entry as administrators see it: whole. */
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

/** The entry as the account's owner sees it: an administrator's credential and whereabouts are not theirs to know. */
export function viewOwnAuditEntry(entry: AuditEntry): AuditEntryResource {
  const view = viewAuditEntry(entry);
  if (entry.actorAccountId === entry.accountId) return view;
  return { ...view, actor: { ...view.actor, credential: null, address: null } };
}
