import { draft, type EventDraft } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { endpointDisabled } from "../endpoints/endpoint-events.ts";
import type { EndpointStore } from "../endpoints/endpoint-store.ts";
import { type Attempt, viewDelivery } from "./delivery.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import type { DueDeliveries, DueDelivery, Settlement } from "./due-deliveries.ts";
import { type AttemptResult, type Judgement, judgeAttempt } from "./judge-attempt.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly due: DueDeliveries;
  readonly endpoints: EndpointStore;
  readonly deliveries: DeliveryStore;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** `recorded` is false when the lease had run out and another attempt was recorded first, or the delivery is gone. */
export type Settled = Judgement & { readonly recorded: boolean };

/** Not dropped: the endpoint may be enabled or resumed again. */
const held: Settlement = { status: "held", nextAttemptAt: null };

/** Records an attempt and decides what follows: done, another attempt, given up, or the end of the endpoint. */
export function createSettleAttempt({ pool, due: queue, endpoints, deliveries, outbox, clock }: Dependencies) {
  return async function settleAttempt(due: DueDelivery, attempt: Attempt, result: AttemptResult): Promise<Settled> {
    const scheduleMs = due.scheduleSeconds?.map((secondsToWait) => secondsToWait * 1000);
    const judgement = judgeAttempt(result, attempt.number, scheduleMs);
    const recorded = await inTransaction(pool, async (tx) => {
      // Before the delivery, as every other writer does: the other order deadlocks with a pause.
      const endpoint = judgement.outcome === "gone" ? await endpoints.lock(tx, due.accountId, due.endpointId) : null;
      const waits = judgement.outcome === "retry" && (await endpoints.isHolding(tx, due.endpointId));
      const isOurs = await queue.settle(tx, due, attempt, waits ? held : settlementOf(judgement));
      if (!isOurs) return false;
      if (endpoint !== null) await disable(tx, endpoint);
      if (judgement.outcome === "exhausted" && !isOperatorEvent(due)) {
        await outbox.append(tx, [exhausted(due, attempt)]);
      }
      return true;
    });
    return { ...judgement, recorded };
  };

  function settlementOf(judgement: Judgement): Settlement {
    switch (judgement.outcome) {
      case "succeeded":
        return { status: "succeeded", nextAttemptAt: null };
      case "retry":
        return { status: "pending", nextAttemptAt: new Date(clock.nowMs() + judgement.delayMs) };
      case "exhausted":
        return { status: "exhausted", nextAttemptAt: null };
      case "gone":
        return held;
    }
  }

  async function disable(tx: Tx, endpoint: Endpoint): Promise<void> {
    if (endpoint.status === "disabled") return;
    const change = { status: "disabled", disabledReason: "gone", updatedAt: clock.now() } as const;
    const disabled = { ...endpoint, ...change, revision: endpoint.revision + 1 };
    await endpoints.update(tx, disabled);
    await deliveries.hold(tx, endpoint.id);
    await outbox.append(tx, [endpointDisabled(disabled, "gone")]);
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
