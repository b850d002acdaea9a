import { draft, type EventDraft } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool } from "@signalbox/storage";
import type { EndpointStatus } from "../endpoints/endpoint-status.ts";
import type { EndpointStore } from "../endpoints/endpoint-store.ts";
import { type Attempt, viewDelivery } from "./delivery.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import type { DueDeliveries, DueDelivery, Settlement } from "./due-deliveries.ts";
import { type AttemptResult, type Judgement, judgeAttempt } from "./judge-attempt.ts";

export interface SettleDependencies {
  readonly pool: Pool;
  readonly dueDeliveries: DueDeliveries;
  readonly deliveryStore: DeliveryStore;
  readonly endpointStore: EndpointStore;
  readonly endpointStatus: EndpointStatus;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** `recorded` is false when the lease had run out and another attempt was recorded first, or the delivery is gone. */
export type Settled = Judgement & { readonly recorded: boolean };

/** Records an attempt and decides what follows: done, another attempt, given up, or the end of the endpoint. */
export async function settleAttempt(
  { pool, dueDeliveries, deliveryStore, endpointStore, endpointStatus, outbox, clock }: SettleDependencies,
  due: DueDelivery,
  attempt: Attempt,
  result: AttemptResult,
): Promise<Settled> {
  const scheduleMs = due.scheduleSeconds?.map((secondsToWait) => secondsToWait * 1000);
  const judgement = judgeAttempt(result, attempt.number, scheduleMs);
  const recorded = await inTransaction(pool, async (tx) => {
    // Before the delivery, as every other writer does: the other order deadlocks with a pause.
    const gone = judgement.outcome === "gone" ? await endpointStore.lock(tx, due.accountId, due.endpointId) : null;
    const waits = judgement.outcome === "retry" && (await endpointStore.isHolding(tx, due.endpointId));
    const settlement = waits ? held : settlementOf(judgement, clock.nowMs());
    if (!(await dueDeliveries.settle(tx, due, attempt, settlement))) return false;
    await deliveryStore.insertAttempt(tx, attempt);
    if (gone !== null) await endpointStatus.disable(tx, gone);
    if (judgement.outcome === "exhausted" && !isOperatorEvent(due)) await outbox.append(tx, [exhausted(due, attempt)]);
    return true;
  });
  return { ...judgement, recorded };
}

/** Not dropped: the endpoint may be enabled or resumed again. */
const held: Settlement = { status: "held", nextAttemptAt: null };

function settlementOf(judgement: Judgement, nowMs: number): Settlement {
  switch (judgement.outcome) {
    case "succeeded":
      return { status: "succeeded", nextAttemptAt: null };
    case "retry":
      return { status: "pending", nextAttemptAt: new Date(nowMs + judgement.delayMs) };
    case "exhausted":
      return { status: "exhausted", nextAttemptAt: null };
    case "gone":
      return held;
  }
}

/** What failed to be told about webhooks is not told about again, or one dead receiver would never fall silent. */
function isOperatorEvent({ eventType }: DueDelivery): boolean {
  return eventType.startsWith("webhook_delivery.") || eventType.startsWith("webhook_endpoint.");
}

function exhausted(due: DueDelivery, attempt: Attempt): EventDraft {
  const delivery = viewDelivery({
    ...due,
    status: "exhausted",
    attempts: attempt.number,
    lastStatus: attempt.status,
    lastError: attempt.error,
    createdAt: due.createdAt,
    lastAttemptAt: attempt.startedAt,
    nextAttemptAt: null,
  });
  const data = { ...delivery, changed: ["status"] };
  return draft("webhook_delivery.exhausted", { subject: due.id, accountId: due.accountId, data });
}
