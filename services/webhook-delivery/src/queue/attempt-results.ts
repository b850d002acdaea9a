import { setTimeout as sleep } from "node:timers/promises";
import { draft, type EventDraft } from "@signalbox/contracts";
import { type Clock, isUnavailable } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool } from "@signalbox/storage";
import type { Counter, Histogram, Logger, Metrics } from "@signalbox/telemetry";
import { type Attempt, viewDelivery } from "../deliveries/delivery.ts";
import { type Judgement, judgeAttempt } from "../deliveries/judge-attempt.ts";
import type { EndpointStatus } from "../endpoints/endpoint-status.ts";
import type { EndpointStore } from "../endpoints/endpoint-store.ts";
import type { SigningEndpoint } from "../endpoints/signing-endpoint.ts";
import type { Attempted } from "./attempt-delivery.ts";
import type { LeasedDelivery } from "./delivery-queue.ts";
import { parkDelivery, type Result, recordResults } from "./record-results.ts";

export interface ResultDependencies {
  readonly pool: Pool;
  readonly endpointStore: Pick<EndpointStore, "lock">;
  readonly endpointStatus: Pick<EndpointStatus, "disable">;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly delayMsMin: number;
  /** Tells the worker that a delivery is due in so many milliseconds. */
  readonly onPostponed: (delayMs: number) => void;
}

/** An attempt that was made, with whom it was made for. */
export interface MadeAttempt extends Attempted {
  readonly delivery: LeasedDelivery;
  readonly endpoint: SigningEndpoint;
}

interface Waiting {
  readonly made: MadeAttempt;
  readonly judgement: Judgement;
  readonly done: () => void;
}

const batchMax = 64;
const batchMs = 5;
/** Records that are under way at the same time. */
const lanes = 2;
const pauseMsMax = 2_000;

/** Records attempts and what follows from them, many at a time. While the database is away they wait: none is repeated. */
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

  /** Resolves when the attempt is recorded. */
  add(made: MadeAttempt): Promise<void> {
    const scheduleMs = made.endpoint.settings.retry_schedule_seconds?.map((seconds) => seconds * 1000);
    const judgement = judgeAttempt(made.result, made.attempt.number, scheduleMs, Math.random(), this.#parts.delayMsMin);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ made, judgement, done: resolve });
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

  /** Writes the batch. One that cannot be written is halved until what spoils it is alone; that is set aside. */
  async #record(batch: readonly Waiting[]): Promise<void> {
    let won: ReadonlySet<string>;
    try {
      won = await this.#untilBack(() => this.#write(batch));
    } catch (error) {
      const [first] = batch;
      if (first !== undefined && batch.length === 1) return this.#setAside(first, error);
      const middle = Math.ceil(batch.length / 2);
      await this.#record(batch.slice(0, middle));
      return this.#record(batch.slice(middle));
    }
    for (const one of batch) this.#report(one, won.has(one.made.delivery.id));
  }

  /** Tries again for as long as the database is away; every other failure is the caller's. */
  async #untilBack<T>(work: () => Promise<T>): Promise<T> {
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

  /** Parks a delivery whose result cannot be written: tried again it would be posted over and over, for nothing. */
  async #setAside({ made: { delivery, attempt }, done }: Waiting, error: unknown): Promise<void> {
    const { log, pool } = this.#parts;
    const ids = { deliveryId: delivery.id, endpointId: delivery.endpointId, number: attempt.number };
    log.error({ error, ...ids }, "the result of an attempt cannot be recorded: its delivery is parked");
    await this.#untilBack(() => parkDelivery(pool, delivery, "not-recorded")).catch((failure: unknown) =>
      log.error({ error: failure, ...ids }, "a delivery is not parked: it is attempted again when its lease is over"),
    );
    done();
  }

  /** One statement where nobody has to be told; answers the deliveries whose lease still held. */
  async #write(batch: readonly Waiting[]): Promise<ReadonlySet<string>> {
    const { pool } = this.#parts;
    const results = batch.map(resultOf);
    if (!batch.some(isTold)) return recordResults(pool, results);
    return inTransaction(pool, async (tx) => {
      const won = await recordResults(tx, results);
      for (const one of batch) {
        if (isTold(one) && won.has(one.made.delivery.id)) await this.#tell(tx, one);
      }
      return won;
    });
  }

  async #tell(tx: Parameters<EndpointStatus["disable"]>[0], { made, judgement }: Waiting): Promise<void> {
    const { endpointStore, endpointStatus, outbox } = this.#parts;
    const { delivery, attempt } = made;
    if (judgement.outcome === "gone") {
      const endpoint = await endpointStore.lock(tx, delivery.accountId, delivery.endpointId);
      if (endpoint) await endpointStatus.disable(tx, endpoint);
    } else {
      const name = judgement.outcome === "succeeded" ? "recovered" : "exhausted";
      await outbox.append(tx, [outcomeEvent(name, delivery, attempt)]);
    }
  }

  #measure({ durationMs, status, startedAt }: Attempt, { createdAt }: LeasedDelivery, { outcome }: Judgement): void {
    this.#duration.observe({ outcome }, durationMs / 1000);
    this.#answers.inc({ answer: answerClass(status) });
    if (outcome !== "succeeded") return;
    const arrivedMs = startedAt.getTime() + durationMs;
    this.#arrival.observe({}, Math.max(0, arrivedMs - createdAt.getTime()) / 1000);
  }

  #report({ made, judgement, done }: Waiting, recorded: boolean): void {
    const { log, onPostponed } = this.#parts;
    const { attempt, delivery } = made;
    this.#measure(attempt, delivery, judgement);
    const { id: deliveryId, endpointId, accountId, eventId, eventType } = delivery;
    const { number, status, error: failure, durationMs } = attempt;
    const ids = { deliveryId, endpointId, accountId, eventId, eventType };
    const line = { ...ids, number, status, failure, durationMs, ...judgement, recorded };
    // The row is the record of what went well at once.
    if (judgement.outcome === "succeeded" && number === 1 && recorded) log.debug(line, "webhook attempt");
    else log.info(line, "webhook attempt");
    if (judgement.outcome === "retry") onPostponed(judgement.delayMs);
    done();
  }
}

/** `2xx` to `5xx`, or `none` where no answer came. */
const answerClass = (status: number | null): string => (status === null ? "none" : `${Math.floor(status / 100)}xx`);

function resultOf({ made: { delivery, attempt }, judgement }: Waiting): Result {
  switch (judgement.outcome) {
    case "succeeded":
      return { delivery, attempt, status: "succeeded", delayMs: null };
    case "retry":
      return { delivery, attempt, status: "pending", delayMs: judgement.delayMs };
    case "exhausted":
      return { delivery, attempt, status: "exhausted", delayMs: null };
    case "gone":
      // Not dropped: the endpoint may be enabled again.
      return { delivery, attempt, status: "pending", delayMs: 0 };
  }
}

function isTold({ made, judgement }: Waiting): boolean {
  const { outcome } = judgement;
  if (outcome === "gone") return true;
  const isNews = outcome === "exhausted" || (outcome === "succeeded" && made.delivery.wasExhausted);
  return isNews && !isOperatorEvent(made.delivery);
}

/** What failed to be told about webhooks is not told about again, or one dead receiver would never fall silent. */
function isOperatorEvent({ eventType }: LeasedDelivery): boolean {
  return eventType.startsWith("webhook_delivery.") || eventType.startsWith("webhook_endpoint.");
}

function outcomeEvent(outcome: "exhausted" | "recovered", delivery: LeasedDelivery, attempt: Attempt): EventDraft {
  const view = viewDelivery({
    ...delivery,
    status: outcome === "recovered" ? "succeeded" : "exhausted",
    attempts: attempt.number,
    lastStatus: attempt.status,
    lastError: attempt.error,
    lastAttemptAt: attempt.startedAt,
    nextAttemptAt: null,
  });
  const data = { ...view, changed: ["status"] };
  return draft(`webhook_delivery.${outcome}`, { subject: delivery.id, accountId: delivery.accountId, data });
}
