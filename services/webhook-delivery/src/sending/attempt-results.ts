import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, isUnavailable } from "@signalbox/core";
import type { Counter, Histogram, Logger, Metrics } from "@signalbox/runtime";
import { GroupCommit, inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { Attempt } from "../deliveries/attempt.ts";
import type { LeasedDelivery } from "../deliveries/delivery.ts";
import { advanceKeys, lockOrder } from "../deliveries/delivery-order.ts";
import { type Judgement, judgeAttempt } from "../deliveries/retry-schedule.ts";
import { isCanary } from "../endpoints/account-access.ts";
import type { Attempted } from "./attempt-delivery.ts";
import { answerClass, parkDelivery, type Recorded } from "./record-results.ts";
import type { SigningEndpoint } from "./signing-endpoint.ts";

export interface Consequences {
  readonly write: (batch: readonly JudgedAttempt[]) => Promise<Recorded>;
  readonly judge: (endpointIds: readonly string[]) => Promise<void>;
}

interface ResultParts {
  readonly pool: Pool;
  readonly consequences: Consequences;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly delayMsMin: number;
  /** Wakes the worker in so many milliseconds, when a delivery is due. */
  readonly onPostponed: (delayMs: number) => void;
}

export interface FinishedAttempt extends Attempted {
  readonly delivery: LeasedDelivery;
  readonly endpoint: SigningEndpoint;
}

export interface JudgedAttempt extends FinishedAttempt {
  readonly judgement: Judgement;
}

const batchMax = 64;
const batchMs = 5;
const batchesMax = 2;
const pauseMsMax = 2_000;

/** Records attempts in batches. While the database is away they wait, and no attempt is repeated. */
export class AttemptResults {
  readonly #parts: ResultParts;
  readonly #duration: Histogram<"outcome">;
  readonly #answers: Counter<"answer">;
  readonly #arrival: Histogram;
  /** Resolves with true when the lease of the delivery still held. */
  readonly #group: GroupCommit<JudgedAttempt, boolean>;

  constructor(parts: ResultParts) {
    this.#parts = parts;
    this.#duration = parts.metrics.histogram("signalbox_webhook_attempt_seconds");
    this.#answers = parts.metrics.counter("signalbox_webhook_attempts_total");
    this.#arrival = parts.metrics.histogram("signalbox_webhook_arrival_seconds");
    const write = (batch: readonly JudgedAttempt[]) => this.#write(batch);
    this.#group = new GroupCommit({ write, clock: parts.clock, sizeMax: batchMax, batchesMax, apartMs: batchMs });
  }

  /** Resolves when the attempt is recorded, or its delivery is parked because its result cannot be written. */
  async add(finished: FinishedAttempt): Promise<void> {
    const judged = { ...finished, judgement: judgementOf(finished, this.#parts.delayMsMin) };
    try {
      this.#report(judged, await this.#group.add(judged));
    } catch (error) {
      await this.#park(judged, error);
    }
  }

  async #write(batch: readonly JudgedAttempt[]): Promise<boolean[]> {
    const { write, judge } = this.#parts.consequences;
    const { won, failing } = await this.#retryWhileAway(() => write(batch));
    if (failing.length > 0) void judge(failing);
    return batch.map(({ delivery }) => won.has(delivery.id));
  }

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
  async #park({ delivery, attempt }: JudgedAttempt, error: unknown): Promise<void> {
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
  }

  #measure({ durationMs, status, startedAt }: Attempt, { createdAt }: LeasedDelivery, { outcome }: Judgement): void {
    this.#duration.observe({ outcome }, durationMs / 1000);
    this.#answers.inc({ answer: answerClass(status) });
    if (outcome !== "succeeded") return;
    const arrivedMs = startedAt.getTime() + durationMs;
    this.#arrival.observe({}, Math.max(0, arrivedMs - createdAt.getTime()) / 1000);
  }

  #report({ delivery, attempt, judgement }: JudgedAttempt, recorded: boolean): void {
    const { log, onPostponed } = this.#parts;
    // The figures of the service levels are those of customers.
    if (!isCanary(delivery)) this.#measure(attempt, delivery, judgement);
    const { id: deliveryId, endpointId, accountId, eventId, eventType } = delivery;
    const { number, status, error: failure, durationMs } = attempt;
    const ids = { deliveryId, endpointId, accountId, eventId, eventType };
    const line = { ...ids, number, status, failure, durationMs, ...judgement, recorded };
    // Debug only: the row is the record of a delivery that succeeded at once.
    if (judgement.outcome === "succeeded" && number === 1 && recorded) log.debug(line, "webhook attempt");
    else log.info(line, "webhook attempt");
    if (judgement.outcome === "retry") onPostponed(judgement.delayMs);
  }
}

function judgementOf({ delivery, endpoint, attempt, result }: FinishedAttempt, delayMsMin: number): Judgement {
  const schedule = delivery.purpose === "test" ? [0] : endpoint.settings.retry_schedule_seconds;
  const scheduleMs = schedule?.map((seconds) => seconds * 1000);
  const judgement = judgeAttempt(result, attempt.number, scheduleMs, Math.random(), delayMsMin);
  if (judgement.outcome === "succeeded") return judgement;
  if (delivery.purpose === "probe") return { outcome: "held" };
  return delivery.purpose === "test" ? { outcome: "exhausted" } : judgement;
}

async function parkInOrder(tx: Tx, delivery: LeasedDelivery, reason: string): Promise<void> {
  const { endpointId, orderKey } = delivery;
  if (orderKey !== null) await lockOrder(tx, [endpointId]);
  if ((await parkDelivery(tx, delivery, reason)) && orderKey !== null)
    await advanceKeys(tx, [{ endpointId, orderKey }]);
}
