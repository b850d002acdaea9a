import { setTimeout as sleep } from "node:timers/promises";
import type { EventDraft } from "@signalbox/contracts";
import { type Clock, isUnavailable, seconds } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { Counter, Histogram, Logger, Metrics } from "@signalbox/telemetry";
import { type Attempt, attemptedEvent } from "../deliveries/attempt.ts";
import { deliveryEvent, isAboutWebhooks } from "../deliveries/delivery.ts";
import { disableReason, type Judgement, judgeAttempt } from "../deliveries/judge-attempt.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import type { SigningEndpoint } from "../endpoints/endpoint-directory.ts";
import type { EndpointHealth } from "../endpoints/endpoint-health.ts";
import type { EndpointStatus } from "../endpoints/endpoint-status.ts";
import type { EndpointStore } from "../endpoints/endpoint-store.ts";
import type { Attempted } from "./attempt-delivery.ts";
import { advanceKeys, lockOrder, noteHolds } from "./delivery-order.ts";
import type { LeasedDelivery } from "./delivery-queue.ts";
import { parkDelivery, type Recorded, type Result, recordResults } from "./record-results.ts";

export interface ResultDependencies {
  readonly pool: Pool;
  readonly endpointStore: Pick<EndpointStore, "lock">;
  readonly endpointStatus: Pick<EndpointStatus, "disable" | "recover">;
  readonly endpointHealth: Pick<EndpointHealth, "judge" | "limits">;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly delayMsMin: number;
  /** Selects the attempts that are published as events. */
  readonly published: () => "off" | "failed" | "all";
  /** Wakes the worker in so many milliseconds, when a delivery is due. */
  readonly onPostponed: (delayMs: number) => void;
}

/** A finished attempt with its delivery and endpoint. */
export interface FinishedAttempt extends Attempted {
  readonly delivery: LeasedDelivery;
  readonly endpoint: SigningEndpoint;
}

interface Waiting {
  readonly finished: FinishedAttempt;
  readonly judgement: Judgement;
  readonly done: () => void;
}

const batchMax = 64;
const batchMs = 5;
/** Batches that are recorded at the same time. */
const lanes = 2;
const pauseMsMax = 2_000;
/** Default time for which a failed delivery blocks the later ones of its key. */
const holdMsDefault = seconds(3_600);

/**
 * Records attempts and their consequences in batches. While the database is away they wait, and no attempt is repeated.
 */
export class AttemptResults {
  readonly #parts: ResultDependencies;
  readonly #duration: Histogram<"outcome">;
  readonly #answers: Counter<"answer">;
  readonly #arrival: Histogram;
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | null = null;
  #recording = 0;

  constructor(parts: ResultDependencies) {
    this.#parts = parts;
    this.#duration = parts.metrics.histogram("signalbox_webhook_attempt_seconds");
    this.#answers = parts.metrics.counter("signalbox_webhook_attempts_total");
    this.#arrival = parts.metrics.histogram("signalbox_webhook_arrival_seconds");
  }

  /** Queues the attempt; resolves when it is recorded. */
  add(finished: FinishedAttempt): Promise<void> {
    const judgement = judgementOf(finished, this.#parts.delayMsMin);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ finished, judgement, done: resolve });
    if (this.#waiting.length >= batchMax) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), batchMs);
    return promise;
  }

  #flush(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    while (this.#waiting.length > 0 && this.#recording < lanes) {
      this.#recording++;
      void this.#record(this.#waiting.splice(0, batchMax)).finally(() => {
        this.#recording--;
        this.#flush();
      });
    }
  }

  /**
   * Writes the batch. A batch that cannot be written is halved until the faulty result is alone; its delivery is
   * parked.
   */
  async #record(batch: readonly Waiting[]): Promise<void> {
    let recorded: Recorded;
    try {
      recorded = await this.#retryWhileAway(() => this.#write(batch));
    } catch (error) {
      const [first] = batch;
      if (first !== undefined && batch.length === 1) return this.#park(first, error);
      const middle = Math.ceil(batch.length / 2);
      await this.#record(batch.slice(0, middle));
      return this.#record(batch.slice(middle));
    }
    for (const one of batch) this.#report(one, recorded.won.has(one.finished.delivery.id));
    if (recorded.failing.length > 0) void this.#parts.endpointHealth.judge(recorded.failing);
  }

  /** Retries while the database is away; any other error goes to the caller. */
  async #retryWhileAway<T>(work: () => Promise<T>): Promise<T> {
    const { log } = this.#parts;
    for (let pauseMs = 50; ; pauseMs = Math.min(2 * pauseMs, pauseMsMax)) {
      try {
        const done = await work();
        log.outage("The database").passed("results of attempts");
        return done;
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        log.outage("The database").failed("results of attempts", error);
        await sleep(pauseMs);
      }
    }
  }

  /** Parks a delivery whose result cannot be written. A retry would post it again and again. */
  async #park({ finished: { delivery, attempt }, done }: Waiting, error: unknown): Promise<void> {
    const { log, pool } = this.#parts;
    const ids = { deliveryId: delivery.id, endpointId: delivery.endpointId, number: attempt.number };
    log.error({ error, ...ids }, "the result of an attempt cannot be recorded; its delivery is parked");
    const park = () => inTransaction(pool, (tx) => parkInOrder(tx, delivery, "not-recorded"));
    await this.#retryWhileAway(park).catch((failure: unknown) =>
      log.error(
        { error: failure, ...ids },
        "a delivery could not be parked; it is attempted again when its lease expires",
      ),
    );
    done();
  }

  /** Writes the results, with a single statement when no event follows from them. */
  async #write(batch: readonly Waiting[]): Promise<Recorded> {
    const { pool, endpointStore, endpointHealth } = this.#parts;
    const results = batch.map(resultOf);
    const limits = endpointHealth.limits();
    const published = batch.filter(isPublished);
    const ordered = batch.filter(({ finished }) => finished.delivery.orderKey !== null);
    const watched = this.#watched(batch);
    const isPlain = published.length === 0 && ordered.length === 0 && watched.length === 0;
    if (isPlain) return recordResults(pool, results, limits);
    return inTransaction(pool, async (tx) => {
      await lockOrder(
        tx,
        ordered.map(({ finished }) => finished.endpoint.id),
      );
      // Endpoints are locked before their counts, as everywhere, or two transactions could deadlock.
      const changed = new Map(
        published.filter(changesEndpoint).map(({ finished }) => [finished.endpoint.id, finished.endpoint.accountId]),
      );
      const endpoints = new Map<string, Endpoint | null>();
      for (const [id, accountId] of [...changed].toSorted()) {
        endpoints.set(id, await endpointStore.lock(tx, accountId, id));
      }
      const recorded = await recordResults(tx, results, limits);
      for (const one of published) {
        if (!recorded.won.has(one.finished.delivery.id)) continue;
        await this.#publishOutcome(tx, one);
        await this.#changeEndpoint(tx, one, endpoints.get(one.finished.endpoint.id) ?? null);
      }
      await this.#advance(
        tx,
        ordered.filter(({ finished }) => recorded.won.has(finished.delivery.id)),
      );
      const counted = watched.filter(({ finished }) => recorded.won.has(finished.delivery.id));
      if (counted.length > 0)
        await this.#parts.outbox.append(
          tx,
          counted.map(({ finished: { delivery, attempt }, judgement: { outcome } }) =>
            attemptedEvent(delivery, attempt, outcome),
          ),
        );
      return recorded;
    });
  }

  #watched(batch: readonly Waiting[]): readonly Waiting[] {
    const published = this.#parts.published();
    if (published === "off") return [];
    return published === "all" ? batch : batch.filter(({ judgement }) => judgement.outcome !== "succeeded");
  }

  /**
   * Releases the next delivery of a key after a final result. A failed delivery blocks its key from now on, unless it
   * does already.
   */
  async #advance(tx: Tx, ordered: readonly Waiting[]): Promise<void> {
    const keyed = ordered.map(({ finished: { delivery, endpoint }, judgement: { outcome } }) => ({
      endpointId: endpoint.id,
      orderKey: delivery.orderKey ?? "",
      sequence: delivery.sequence ?? 0,
      outcome,
      holdMs: seconds(endpoint.settings.order_hold_seconds ?? 0) || holdMsDefault,
    }));
    const over = keyed.filter(({ outcome }) => outcome === "succeeded" || outcome === "exhausted");
    await advanceKeys(tx, over);
    await noteHolds(
      tx,
      keyed.filter(({ outcome }) => outcome === "retry"),
    );
    if (over.length > 0) tx.afterCommit(() => this.#parts.onPostponed(0));
  }

  async #publishOutcome(tx: Tx, { finished: { delivery, attempt }, judgement: { outcome } }: Waiting): Promise<void> {
    const { outbox } = this.#parts;
    if (isAboutWebhooks(delivery)) return;
    if (outcome === "exhausted") await outbox.append(tx, [outcomeEvent("exhausted", delivery, attempt)]);
    if (outcome === "succeeded" && delivery.wasExhausted) {
      await outbox.append(tx, [outcomeEvent("recovered", delivery, attempt)]);
    }
  }

  #measure({ durationMs, status, startedAt }: Attempt, { createdAt }: LeasedDelivery, { outcome }: Judgement): void {
    this.#duration.observe({ outcome }, durationMs / 1000);
    this.#answers.inc({ answer: answerClass(status) });
    if (outcome !== "succeeded") return;
    const arrivedMs = startedAt.getTime() + durationMs;
    this.#arrival.observe({}, Math.max(0, arrivedMs - createdAt.getTime()) / 1000);
  }

  async #changeEndpoint(tx: Tx, one: Waiting, endpoint: Endpoint | null): Promise<void> {
    if (endpoint === null || !changesEndpoint(one)) return;
    const { endpointStatus } = this.#parts;
    const reason = disableReason(one.finished.result);
    if (reason !== null) await endpointStatus.disable(tx, endpoint, reason);
    else await endpointStatus.recover(tx, endpoint);
  }

  #report({ finished, judgement, done }: Waiting, recorded: boolean): void {
    const { log, onPostponed } = this.#parts;
    const { attempt, delivery } = finished;
    this.#measure(attempt, delivery, judgement);
    const { id: deliveryId, endpointId, accountId, eventId, eventType } = delivery;
    const { number, status, error: failure, durationMs } = attempt;
    const ids = { deliveryId, endpointId, accountId, eventId, eventType };
    const line = { ...ids, number, status, failure, durationMs, ...judgement, recorded };
    // Debug only: the row is the record of a delivery that succeeded at once.
    if (judgement.outcome === "succeeded" && number === 1 && recorded) log.debug(line, "webhook attempt");
    else log.info(line, "webhook attempt");
    if (judgement.outcome === "retry") onPostponed(judgement.delayMs);
    done();
  }
}

/** `2xx` to `5xx`, or `none` when no answer came. */
const answerClass = (status: number | null): string => (status === null ? "none" : `${Math.floor(status / 100)}xx`);

function judgementOf({ delivery, endpoint, attempt, result }: FinishedAttempt, delayMsMin: number): Judgement {
  const schedule = delivery.purpose === "test" ? [0] : endpoint.settings.retry_schedule_seconds;
  const scheduleMs = schedule?.map((seconds) => seconds * 1000);
  const judgement = judgeAttempt(result, attempt.number, scheduleMs, Math.random(), delayMsMin);
  if (judgement.outcome === "succeeded") return judgement;
  if (delivery.purpose === "probe") return { outcome: "held" };
  return delivery.purpose === "test" ? { outcome: "exhausted" } : judgement;
}

function resultOf({ finished: { delivery, attempt }, judgement }: Waiting): Result {
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

function isPublished(one: Waiting): boolean {
  const { outcome } = one.judgement;
  if (changesEndpoint(one)) return true;
  const isNews = outcome === "exhausted" || (outcome === "succeeded" && one.finished.delivery.wasExhausted);
  return isNews && !isAboutWebhooks(one.finished.delivery);
}

/** Returns true when the receiver ended the endpoint, or a probe showed that it works again. */
function changesEndpoint({ finished: { delivery, result }, judgement }: Waiting): boolean {
  if (delivery.purpose === "test") return false;
  return disableReason(result) !== null || (delivery.purpose === "probe" && judgement.outcome === "succeeded");
}

function outcomeEvent(outcome: "exhausted" | "recovered", delivery: LeasedDelivery, attempt: Attempt): EventDraft {
  return deliveryEvent(outcome, {
    ...delivery,
    status: outcome === "recovered" ? "succeeded" : "exhausted",
    attempts: attempt.number,
    lastStatus: attempt.status,
    lastError: attempt.error,
    lastAttemptAt: attempt.startedAt,
    nextAttemptAt: null,
  });
}

/** Parks a delivery and releases the next of its key. */
async function parkInOrder(tx: Tx, delivery: LeasedDelivery, reason: string): Promise<void> {
  const { endpointId, orderKey } = delivery;
  if (orderKey !== null) await lockOrder(tx, [endpointId]);
  if ((await parkDelivery(tx, delivery, reason)) && orderKey !== null)
    await advanceKeys(tx, [{ endpointId, orderKey }]);
}
