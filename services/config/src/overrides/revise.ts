import { type AuditAction, draft, type EventDraft } from "@signalbox/contracts";
import { type Actor, audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { ConfigService } from "../context/config-service.ts";
import { type Change, nextRevision, saveChange } from "./override-store.ts";

/** The effect of a revision on one property. */
export type Revised = Pick<Change, "name" | "set" | "value" | "expiresAt" | "restores">;
type OverrideAction = Extract<AuditAction, `property.${string}`>;

interface How {
  readonly by: Actor;
  readonly reason: string | null;
  readonly actionOf: (revised: Revised) => OverrideAction;
  /** Owner of the audit entry, where it is not the actor. */
  readonly auditOf?: (name: string) => string | undefined;
}

/** Assigns the next revision to these changes: rows, events and audit entries in one transaction. */
export async function revise(
  service: ConfigService,
  tx: Tx,
  revised: readonly Revised[],
  { by, reason, actionOf, auditOf }: How,
): Promise<Change[]> {
  if (revised.length === 0) return [];
  const { clock, outbox } = service;
  const revision = await nextRevision(tx);
  const made = { revision, reason, changedAt: clock.now(), together: revised.length, requestId: by.requestId || null };
  const actor = by.accountId ?? by.kind;
  const changes = revised.map((each) => ({ ...each, ...made, actor, credential: by.credential }));
  const events: EventDraft[] = [];
  for (const change of changes) {
    await saveChange(tx, change);
    const accountId = auditOf?.(change.name);
    const fields = ["value", `revision ${revision}`];
    const entry = { action: actionOf(change), subject: change.name, fields, reason };
    const owner = accountId ?? by.accountId;
    events.push(changedEvent(service, change));
    if (owner?.startsWith("acc_")) events.push(audited(by, { ...entry, accountId: owner }));
  }
  await outbox.append(tx, events);
  return changes;
}

/** Creates the event of a change. */
export function changedEvent({ catalogue }: ConfigService, change: Change): EventDraft {
  return draft("config.changed", {
    subject: change.name,
    accountId: null,
    data: {
      property: change.name,
      set: change.set,
      value: change.value as never,
      revision: Number(change.revision),
      secrecy: catalogue.secrecyOf(change.name),
      audience: catalogue.audienceOf(change.name),
      actor: change.actor,
      reason: change.reason,
      changed_at: change.changedAt.toISOString(),
      expires_at: change.expiresAt?.toISOString() ?? null,
      ...(change.together > 1 && { together: change.together }),
    },
  });
}
