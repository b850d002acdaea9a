import { seconds } from "@signalbox/core";
import { inTransaction, type Tx } from "@signalbox/storage";
import type { DeliveryService } from "../context/delivery-service.ts";
import { attemptedEvent } from "../deliveries/attempt.ts";
import { deliveryEvent, isAboutWebhooks } from "../deliveries/delivery.ts";
import { advanceKeys, lockOrder, noteHolds } from "../deliveries/delivery-order.ts";
import { disableReason } from "../deliveries/retry-schedule.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { holdMsDefault } from "../endpoints/endpoint-settings.ts";
import { disableEndpoint, recoverEndpoint } from "../endpoints/endpoint-status.ts";
import { lockEndpoint } from "../endpoints/endpoint-store.ts";
import type { JudgedAttempt } from "../sending/attempt-results.ts";
import { type Recorded, type Result, recordResults } from "../sending/record-results.ts";
import { healthLimits } from "./endpoint-health.ts";

/** Writes results with their consequences. A batch without any is a single statement. */
export async function writeResults(service: DeliveryService, batch: readonly JudgedAttempt[]): Promise<Recorded> {
  const { pool, configuration } = service;
  const results = batch.map(resultOf);
  const news = batch.filter(isNews);
  const ordered = batch.filter(({ delivery }) => delivery.orderKey !== null);
  const watched = watchedOf(configuration.get("webhook-delivery.attempts.published"), batch);
  const isPlain = news.length === 0 && ordered.length === 0 && watched.length === 0;
  if (isPlain) return recordResults(pool, results, healthLimits(service));
  return inTransaction(pool, async (tx) => {
    const orderedIds = ordered.map(({ endpoint }) => endpoint.id);
    await lockOrder(tx, orderedIds);
    // Endpoints are locked before their counts, as everywhere, or two transactions could deadlock.
    const endpoints = await lockChanged(tx, news);
    const recorded = await recordResults(tx, results, healthLimits(service));
    const isWon = ({ delivery }: JudgedAttempt) => recorded.won.has(delivery.id);
    for (const one of news.filter(isWon)) {
      await publishOutcome(service, tx, one);
      await changeEndpoint(service, tx, one, endpoints.get(one.endpoint.id) ?? null);
    }
    await advance(service, tx, ordered.filter(isWon));
    const events = watched
      .filter(isWon)
      .map(({ delivery, attempt, judgement: { outcome } }) => attemptedEvent(delivery, attempt, outcome));
    if (events.length > 0) await service.outbox.append(tx, events);
    return recorded;
  });
}

function watchedOf(published: "off" | "failed" | "all", batch: readonly JudgedAttempt[]): readonly JudgedAttempt[] {
  if (published === "off") return [];
  return published === "all" ? batch : batch.filter(({ judgement }) => judgement.outcome !== "succeeded");
}

async function lockChanged(tx: Tx, news: readonly JudgedAttempt[]) {
  const changed = new Map(news.filter(changesEndpoint).map(({ endpoint }) => [endpoint.id, endpoint.accountId]));
  const endpoints = new Map<string, Endpoint | null>();
  for (const [id, accountId] of [...changed].toSorted()) {
    endpoints.set(id, await lockEndpoint(tx, { accountId }, id));
  }
  return endpoints;
}

/** Releases the next delivery of a key after a final result; a failed one blocks its key from now on. */
async function advance({ wakeUp }: DeliveryService, tx: Tx, ordered: readonly JudgedAttempt[]): Promise<void> {
  const keyed = ordered.map(({ delivery, endpoint, judgement: { outcome } }) => ({
    endpointId: endpoint.id,
    orderKey: delivery.orderKey ?? "",
    sequence: delivery.sequence ?? 0,
    outcome,
    holdMs: seconds(endpoint.settings.order_hold_seconds ?? 0) || holdMsDefault,
  }));
  const over = keyed.filter(({ outcome }) => outcome === "succeeded" || outcome === "exhausted");
  await advanceKeys(tx, over);
  const failed = keyed.filter(({ outcome }) => outcome === "retry");
  await noteHolds(tx, failed);
  if (over.length > 0) tx.afterCommit(wakeUp.wake);
}

function reportedOutcome({ delivery, judgement: { outcome } }: JudgedAttempt): "exhausted" | "recovered" | null {
  if (isAboutWebhooks(delivery)) return null;
  if (outcome === "exhausted") return "exhausted";
  return outcome === "succeeded" && delivery.wasExhausted ? "recovered" : null;
}

async function publishOutcome({ outbox }: DeliveryService, tx: Tx, one: JudgedAttempt): Promise<void> {
  const { delivery, attempt } = one;
  const outcome = reportedOutcome(one);
  if (outcome === null) return;
  const event = deliveryEvent(outcome, {
    ...delivery,
    status: outcome === "recovered" ? "succeeded" : "exhausted",
    attempts: attempt.number,
    lastStatus: attempt.status,
    lastError: attempt.error,
    lastAttemptAt: attempt.startedAt,
    nextAttemptAt: null,
  });
  await outbox.append(tx, [event]);
}

async function changeEndpoint(service: DeliveryService, tx: Tx, one: JudgedAttempt, endpoint: Endpoint | null) {
  if (endpoint === null || !changesEndpoint(one)) return;
  const reason = disableReason(one.result);
  if (reason === null) return recoverEndpoint(service, tx, endpoint);
  // An answer from before a change, such as the owner's own enabling, says nothing about the endpoint as it is now.
  if (one.endpoint.revision === endpoint.revision) await disableEndpoint(service, tx, endpoint, reason);
}

function resultOf({ delivery, attempt, judgement }: JudgedAttempt): Result {
  const { outcome } = judgement;
  const succeeded = outcome === "succeeded";
  const shared = {
    delivery,
    attempt: { ...attempt, decision: outcome },
    used: outcome === "held" ? delivery.attempts : attempt.number,
    failed: delivery.purpose === "test" ? null : !succeeded,
  };
  switch (outcome) {
    case "succeeded":
    case "exhausted":
      return { ...shared, status: outcome, delayMs: null };
    case "retry":
      return { ...shared, status: "pending", delayMs: judgement.delayMs };
    case "gone":
    case "held":
      // Not dropped: the endpoint may be enabled again.
      return { ...shared, status: "pending", delayMs: 0 };
  }
}

/** Returns true when an event or a change of the endpoint follows from the result. */
const isNews = (one: JudgedAttempt): boolean => changesEndpoint(one) || reportedOutcome(one) !== null;

/** Returns true when the receiver ended the endpoint, or a probe showed that it works again. */
function changesEndpoint({ delivery, result, judgement }: JudgedAttempt): boolean {
  if (delivery.purpose === "test") return false;
  return disableReason(result) !== null || (delivery.purpose === "probe" && judgement.outcome === "succeeded");
}
