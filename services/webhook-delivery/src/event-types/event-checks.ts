import { draft } from "@signalbox/contracts";
import { AppError, type RawJson } from "@signalbox/core";
import { audited, systemActor } from "@signalbox/service";
import { inTransaction, type Tx } from "@signalbox/storage";
import type { DeliveryService } from "../context/delivery-service.ts";
import type { EnforcedType, EventType } from "./event-type.ts";
import { lockEventType, saveEventType } from "./event-type-store.ts";
import type { Misfit } from "./schema-check.ts";
import type { SchemaAnswer, SchemaTimeout } from "./schema-thread.ts";

interface CheckedEvent {
  readonly type: string;
  readonly data: RawJson;
}

export type CheckOutcome =
  /** For each event its mismatch with the schema of a type that warns, or null. */
  | { readonly outcome: "checked"; readonly warnings: readonly (Misfit | null)[] }
  /** The data do not match the schema of a type that blocks. */
  | { readonly outcome: "misfit"; readonly index: number; readonly misfit: Misfit };

const requestMsMax = 50;

const unchecked: Misfit = {
  pointer: "",
  message: "The data was not checked: the schema took too long.",
};

/**
 * Checks the events of a request against the schemas of their types, outside of its transaction and of this thread. When
 * they run out of time, the slowest type only warns from then on, and its events are accepted unchecked.
 * @throws AppError `rate_limited` when events of other types are left unchecked
 */
export async function checkEvents(
  service: DeliveryService,
  accountId: string,
  given: readonly CheckedEvent[],
): Promise<CheckOutcome> {
  const { enforcedTypes, schemaThreads } = service;
  const enforced = await enforcedTypes.find(accountId);
  const typeOf = (index: number) => enforced.get(given[index]?.type ?? "");
  const misfits = given.map((_, index) => (typeOf(index)?.enforcementReason ? unchecked : null));
  const usedMs = new Map<EnforcedType, number>();
  for (const [type, indexes] of Map.groupBy(given.keys(), typeOf)) {
    if (!type || type.enforcementReason !== null) continue;
    const { answer, checkedMs } = await schemaThreads.ask(accountId, {
      schema: type.schema,
      data: indexes.map((index) => given[index]?.data.text ?? ""),
      checkMsMax: Math.max(1, Math.floor(requestMsMax - sum(usedMs.values()))),
    });
    usedMs.set(type, checkedMs);
    if (answer.outcome === "timeout")
      await downgradeType(service, slowestOf(usedMs, type, answer.reason), answer.reason);
    if (answer.outcome === "timeout" && usedMs.size > 1)
      throw new AppError("rate_limited", sendAgain, { retryAfterSeconds: 1 });
    for (const [at, index] of indexes.entries()) misfits[index] = misfitOf(answer, at);
  }
  const index = misfits.findIndex((one, at) => one && one !== unchecked && typeOf(at)?.enforcement === "block");
  const misfit = misfits[index];
  return misfit ? { outcome: "misfit", index, misfit } : { outcome: "checked", warnings: misfits };
}

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, one) => total + one, 0);

/** Compiling has a limit for each schema; the time of checks is that of all types of the request. */
function slowestOf(usedMs: ReadonlyMap<EnforcedType, number>, current: EnforcedType, reason: SchemaTimeout) {
  const [slowest] = [...usedMs].toSorted(([, one], [, other]) => other - one)[0] ?? [];
  return reason === "check-timeout" && slowest ? slowest : current;
}

function misfitOf(answer: SchemaAnswer, at: number): Misfit | null {
  switch (answer.outcome) {
    case "checked":
      return answer.misfits[at] ?? null;
    // A schema that was accepted and does not compile now fits nothing.
    case "unusable":
      return { pointer: "", message: answer.message };
    case "timeout":
      return unchecked;
  }
}

const sendAgain = "The schemas of these events took too long. Send the request again.";

/** Makes a type whose schema cannot be applied only warn, unless it was changed meanwhile. */
async function downgradeType(
  service: DeliveryService,
  { accountId, name, revision }: EnforcedType,
  reason: SchemaTimeout,
): Promise<void> {
  await inTransaction(service.pool, async (tx) => {
    service.enforcedTypes.forgetAfter(tx, [accountId]);
    const type = await lockEventType(tx, accountId, name);
    if (type?.revision === revision) await saveDowngraded(service, tx, type, reason);
  });
}

async function saveDowngraded({ outbox, clock }: DeliveryService, tx: Tx, type: EventType, reason: SchemaTimeout) {
  const { id: subject, accountId, name } = type;
  const change = { enforcement: "warn", enforcementReason: reason } as const;
  await saveEventType(tx, { ...type, ...change, revision: type.revision + 1, updatedAt: clock.now() });
  const fields = ["enforcement", "enforcement_reason"];
  const data = { name, enforcement: "warn", enforcement_reason: reason, changed: fields };
  const action = "webhook_event_type.downgrade";
  await outbox.append(tx, [
    draft("webhook_event_type.downgraded", { subject, accountId, data }),
    audited(systemActor("delivery"), { action, accountId, subject, fields, reason }),
  ]);
}
