import { availableParallelism } from "node:os";
import { AppError, type Clock } from "@signalbox/core";
import type { ImageJob, JobOutcome, JobResults } from "../formats/image-jobs.ts";
import { decoderRelease } from "../formats/rendition.ts";
import type { ChildAnswer, ImageChild } from "./image-child.ts";
import { type ChildEnd, ImageChildren } from "./image-children.ts";
import { type JobCost, JobCosts } from "./job-costs.ts";
import { heavyFromMs, JobQueue, type QueuedJob } from "./job-queue.ts";

export interface ImagePoolOptions {
  /** Folder of the children, each in a subfolder. Its creator removes it, also after a kill. */
  readonly directory: string;
  /** Number of children; default one per core. */
  readonly slots?: number;
  /** Memory of running jobs together, and largest memory of one of them. */
  readonly memoryMax: number;
  readonly clock: Clock;
  readonly log: { warn(fields: object, message: string): void };
  readonly runner: { defer(name: string, close: () => unknown): void };
  readonly idleMs?: number;
  /** Called after each job with its outcome, its duration including the wait, and the size of its result. */
  readonly onJob?: (job: ImageJob["kind"], outcome: string, durationMs: number, bytesMade: number) => void;
}

/** The caller of a job, and its time limits. */
export interface JobTerms {
  /** An account, or the address of an anonymous caller: turns rotate by it. */
  readonly turn: string;
  /**
   * Refuses a quick job that would not start this soon, and one that does not start while an earlier one of its turn
   * waits as well; without it the job waits without a limit.
   */
  readonly waitMaxMs?: number;
  /**
   * The caller's deadline on the pool's steady clock. Refuses a job that would not end by then, and kills one that has
   * not ended: the caller would get its answer too late.
   */
  readonly endsByMs?: number;
  /** Time after which the child is killed. */
  readonly limitMs: number;
  /** Aborts when the result is no longer needed. */
  readonly signal?: AbortSignal;
  /**
   * Called when a child is available, right before it gets the job: a job that has only waited until then did no harm.
   * A rejection ends the job before any child receives it.
   */
  readonly beforeHandOver?: () => Promise<void>;
}

/** A child that ends between two jobs costs none of them. This many new ones in a row are no accident. */
const newChildrenMax = 3;

/**
 * Opens the only place where pixels are processed: processes that run one job each and may crash. One pool serves all
 * services of a process. Throws when the first child cannot verify that it opens only images.
 */
export async function openImagePool(options: ImagePoolOptions): Promise<ImagePool> {
  const pool = new ImagePool(options);
  options.runner.defer("image pool", () => pool.close());
  try {
    await pool.warm();
    return pool;
  } catch (error) {
    await pool.close();
    throw error;
  }
}

/** A child, and its answer to the job. */
interface AnsweredJob {
  readonly child: ImageChild;
  readonly answer: ChildAnswer;
  readonly startedMs: number;
}

export class ImagePool {
  readonly #options: ImagePoolOptions;
  readonly #queue: JobQueue;
  readonly #costs = new JobCosts();
  readonly #children: ImageChildren;

  constructor(options: ImagePoolOptions) {
    this.#options = options;
    const { slots = availableParallelism(), memoryMax } = options;
    this.#queue = new JobQueue({ slots, memoryMax });
    this.#children = new ImageChildren(options);
  }

  /** Starts a child in advance, so that the first job need not wait for one. */
  warm(): Promise<void> {
    return this.#children.warm();
  }

  /** Estimates the time and memory of a job. */
  expect(job: ImageJob): JobCost {
    return this.#costs.expect(job);
  }

  /**
   * Runs a job in its turn.
   * @throws AppError `rate_limited` immediately when it cannot start or end in time, with the time to return.
   */
  async run<Job extends ImageJob>(job: Job, terms: JobTerms): Promise<JobOutcome<JobResults[Job["kind"]]>> {
    const startedMs = this.#options.clock.steadyMs();
    let ended = { outcome: "refused", bytesMade: 0 };
    try {
      const made = await this.#runInTurn(job, terms);
      ended = { outcome: made.outcome, bytesMade: bytesMadeBy(made) };
      return made as JobOutcome<JobResults[Job["kind"]]>;
    } finally {
      this.#options.onJob?.(job.kind, ended.outcome, this.#options.clock.steadyMs() - startedMs, ended.bytesMade);
    }
  }

  async #runInTurn(job: ImageJob, terms: JobTerms): Promise<JobOutcome<JobResults[ImageJob["kind"]]>> {
    const queued = await this.#turnOf(this.#costs.expect(job), terms);
    try {
      return await this.#runNow(job, terms);
    } finally {
      this.#queue.ended(queued);
      this.#startNext();
    }
  }

  /** Returns the activity of the pool, for metrics and `info`. */
  state() {
    const { running } = this.#queue;
    return { ...this.#children.state(), running, waiting: this.#queue.waiting() };
  }

  /** Describes the enforced limits, for `info`. */
  describe(): object {
    const { memoryMax, slots = availableParallelism() } = this.#options;
    return {
      decoder: decoderRelease,
      processes: slots,
      memoryMax,
      memoryBound: this.#children.guard,
      loaders: "allow-list",
    };
  }

  /** Ends every child. Running jobs end as unavailable: their images are not the cause. */
  async close(): Promise<void> {
    await this.#children.close();
  }

  /** Waits for the turn of a job. */
  async #turnOf(cost: JobCost, { turn, waitMaxMs, endsByMs, signal }: JobTerms): Promise<QueuedJob> {
    signal?.throwIfAborted();
    const nowMs = this.#options.clock.steadyMs();
    const waitMax = cost.ms <= heavyFromMs && waitMaxMs !== undefined ? waitMaxMs : Number.POSITIVE_INFINITY;
    const startMax = (endsByMs ?? Number.POSITIVE_INFINITY) - nowMs - cost.ms;
    const waitMs = this.#queue.waitMs({ turn, cost }, nowMs);
    const mostMs = Math.min(waitMax, startMax);
    if (waitMs > mostMs || this.#queue.isFull(turn)) throw busy(waitMs - mostMs);

    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const job: QueuedJob = { turn, cost, start: resolve };
    const leave = (error: unknown) => {
      if (this.#queue.remove(job)) reject(error);
    };
    const onAbort = () => leave(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    // Its own wait has shown that the estimate was too low: an equal one would wait as long again.
    const leaveBusy = () => leave(busy(this.#queue.waitMs(job, this.#options.clock.steadyMs())));
    const timers = [refuseAfter(startMax, leaveBusy)];
    // The estimate may be wrong on a shared machine. The only waiting job of a caller keeps waiting.
    timers.push(refuseAfter(waitMax, () => this.#queue.isFirst(job) || leaveBusy()));
    this.#queue.add(job, nowMs);
    this.#startNext();
    try {
      await promise;
      return job;
    } finally {
      for (const timer of timers) clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  #startNext(): void {
    const nowMs = this.#options.clock.steadyMs();
    for (let job = this.#queue.take(nowMs); job; job = this.#queue.take(nowMs)) job.start();
  }

  async #runNow(job: ImageJob, terms: JobTerms): Promise<JobOutcome<JobResults[ImageJob["kind"]]>> {
    const { clock, log } = this.#options;
    const { child, answer, startedMs } = await this.#handOver(job, terms);
    const { outcome: reported, peakBytes } = answer;
    if (reported.outcome === "machine-fault") {
      this.#children.end(child, "recycled"); // it may have no descriptor left
      throw unavailable(new Error(reported.reason));
    }
    const outcome: JobOutcome<JobResults[ImageJob["kind"]]> =
      reported.outcome === "broken" && this.#isLarge(job) ? { ...reported, outcome: "out-of-memory" } : reported;
    const tookMs = clock.steadyMs() - startedMs;
    this.#children.rest(child);
    if (outcome.outcome === "rendered") {
      this.#costs.learn(job, { ms: tookMs, bytes: peakBytes });
      return outcome;
    }
    if (child.isGone) {
      const { pid } = child;
      this.#children.note(outcome.outcome as ChildEnd);
      log.warn({ pid, outcome: outcome.outcome, reason: outcome.reason, tookMs }, "an image crashed its process");
    }
    return outcome;
  }

  /** Gives the job to a child, and to the next one when that ended before it received it. */
  async #handOver(job: ImageJob, { signal, beforeHandOver, ...ends }: JobTerms): Promise<AnsweredJob> {
    let note = beforeHandOver;
    const triesMax = this.#children.idle + newChildrenMax;
    for (let tries = 0; tries < triesMax; tries++) {
      const child = await this.#children.take().catch((cause: unknown) => {
        throw unavailable(cause);
      });
      // The recording is part of the measured time: the slot is occupied meanwhile.
      const startedMs = this.#options.clock.steadyMs();
      try {
        signal?.throwIfAborted();
        await note?.();
        signal?.throwIfAborted();
      } catch (error) {
        this.#children.rest(child);
        throw error;
      }
      note = undefined;
      const answer = await this.#untilLeft(child, signal, () => child.run(job, { limitMs: this.#limitMsOf(ends) }));
      if (this.#children.isClosed && child.isGone) throw unavailable(new Error("the pool is closed"));
      if (answer) return { child, answer, startedMs };
    }
    throw unavailable(new Error(`${triesMax} processes ended before they received the job`));
  }

  /** Returns the time that is left for a job that starts now. */
  #limitMsOf({ limitMs, endsByMs = Number.POSITIVE_INFINITY }: Pick<JobTerms, "limitMs" | "endsByMs">): number {
    return Math.max(0, Math.min(limitMs, endsByMs - this.#options.clock.steadyMs()));
  }

  /** Ends the child when its caller leaves, and then throws the signal's reason. */
  async #untilLeft<T>(child: ImageChild, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const leave = () => this.#children.end(child, "cancelled");
    signal?.addEventListener("abort", leave, { once: true });
    try {
      const result = await work();
      signal?.throwIfAborted();
      return result;
    } catch (error) {
      this.#children.rest(child);
      throw error;
    } finally {
      signal?.removeEventListener("abort", leave);
    }
  }

  /**
   * Returns true for a job near the memory limit: encoders hide a refused allocation, so its failure is not called a
   * broken image.
   */
  #isLarge(job: ImageJob): boolean {
    return this.#costs.expect(job).bytes > this.#options.memoryMax / 2;
  }
}

function refuseAfter(ms: number, refuse: () => unknown): NodeJS.Timeout | undefined {
  return Number.isFinite(ms) ? setTimeout(refuse, Math.max(0, ms)) : undefined;
}

function unavailable(cause: unknown): AppError {
  return new AppError("unavailable", "Images cannot be processed right now.", { retryAfterSeconds: 5, cause });
}

function busy(waitMs: number): AppError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new AppError("rate_limited", "Too many images are being processed right now.", { retryAfterSeconds });
}

function bytesMadeBy(made: JobOutcome<JobResults[ImageJob["kind"]]>): number {
  return made.outcome === "rendered" && "sizeBytes" in made.result ? made.result.sizeBytes : 0;
}
