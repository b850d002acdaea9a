import { setTimeout as sleep } from "node:timers/promises";
import type { EventName } from "@signalbox/contracts";
import type { ReceivedEvent } from "../envelope/decode-event.ts";
import type { ReceivedRecord } from "../event-log.ts";
import type { StatelessHandler } from "./consumer-table.ts";
import { bury, type ConsumerParts, type Delivery } from "./message-context.ts";
import { Interrupted, type MessageOutcome, reasonOf } from "./message-outcome.ts";

/** Short, because later messages wait. A handler that needs longer retries keeps a database or publishes a failure. */
const retryDelaysMs = [200, 1_000, 5_000];
const heartbeatEveryMs = 1_000;

/**
 * Handles one message of a consumer without a database: a few tries in place, then the dead letters.
 * @throws Interrupted when the consumer stops meanwhile; the message comes again.
 */
export async function handleStateless<N extends EventName>(
  parts: ConsumerParts,
  handler: StatelessHandler<N>,
  event: ReceivedEvent<N>,
  record: ReceivedRecord,
  delivery: Delivery,
): Promise<{ outcome: MessageOutcome; reason?: string }> {
  for (let attempt = 1; ; attempt++) {
    if (delivery.signal.aborted) throw new Interrupted("stopped before the message was handled");
    try {
      await handler(event, { signal: delivery.signal, heartbeat: delivery.heartbeat, attempt });
      return { outcome: "handled" };
    } catch (error) {
      if (delivery.signal.aborted) throw new Interrupted("stopped while the message was handled", { cause: error });
      const delayMs = retryDelaysMs[attempt - 1];
      if (delayMs === undefined) {
        const reason = reasonOf(error);
        await bury(parts, record, { reason, attempts: attempt }, delivery);
        return { outcome: "dead", reason };
      }
      await beatFor(delayMs, delivery);
    }
  }
}

async function beatFor(delayMs: number, { signal, heartbeat }: Delivery): Promise<void> {
  for (let left = delayMs; left > 0 && !signal.aborted; left -= heartbeatEveryMs) {
    await sleep(Math.min(left, heartbeatEveryMs), undefined, { signal }).catch(() => {});
    await heartbeat();
  }
}
