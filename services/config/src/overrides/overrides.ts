import type { Caller } from "@signalbox/auth";
import { type AuditAction, draft, type EventDraft } from "@signalbox/contracts";
import type { ErrorDetail } from "@signalbox/core";
import { type Actor, actorOf, audited } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { ConfigService } from "../context/config-service.ts";
import { type Change, lockOverrides, nextRevision, type Override, saveChange } from "./override-store.ts";
import { type ChangeSet, judgeChanges } from "./plan-changes.ts";

/** Terms by which changes are judged; those of a dry run are not made. */
export interface Judging {
  /** Faults that the edge has found. */
  readonly refused: readonly ErrorDetail[];
  readonly dryRun: boolean;
}

/** Makes changes in one revision; with `dryRun` only validates them. @throws AppError as `judgeChanges` */
export async function changeOverrides(
  service: ConfigService,
  tx: Tx,
  caller: Caller,
  { changes, reason, expiresAt, fieldOf }: ChangeSet,
  { refused, dryRun }: Judging,
) {
  const inForce = await lockOverrides(tx);
  const stale = judgeChanges(service, changes, inForce, fieldOf, refused);
  if (stale || dryRun) return stale ?? [];
  const revised = changes.map(({ name, set, value }) => {
    const restores = expiresAt === null ? null : toRestore(inForce.get(name));
    return { name, set, value: set ? value : null, expiresAt: set ? expiresAt : null, restores };
  });
  const actionOf = ({ set }: Revised) => (set ? "property.set" : "property.unset");
  return revise(service, tx, revised, { by: actorOf(caller), reason, actionOf });
}

/** Finds the last permanent change: a temporary one over another temporary one restores the value before both. */
const toRestore = (override: Override | undefined): bigint =>
  override === undefined ? 0n : override.expiresAt === null ? override.revision : (override.restores ?? 0n);

/** The effect of a revision on one property. */
export type Revised = Pick<Change, "name" | "set" | "value" | "expiresAt" | "restores">;

interface How {
  readonly by: Actor;
  readonly reason: string | null;
  readonly actionOf: (revised: Revised) => Extract<AuditAction, `property.${string}`>;
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
    const entry = { action: actionOf(change), subject: change.name, fields: ["value", `revision ${revision}`], reason };
    const owner = auditOf?.(change.name) ?? by.accountId;
    events.push(overrideChanged(service, change));
    if (owner?.startsWith("acc_")) events.push(audited(by, { ...entry, accountId: owner }));
  }
  await outbox.append(tx, events);
  return changes;
}

/** Creates the event of a change. */
export function overrideChanged({ catalogue }: ConfigService, change: Change): EventDraft {
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
