import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { AppError, entryLimit, seconds } from "@signalbox/core";
import { LRUCache } from "lru-cache";
import { slowestShare } from "../event-types/schema-check.ts";
import type { SchemaAnswer, SchemaQuestion, TimedAnswer } from "../event-types/schema-thread.ts";

interface Waiting {
  readonly question: SchemaQuestion;
  readonly resolve: (answer: JudgedAnswer) => void;
  readonly reject: (error: Error) => void;
}

type JudgedAnswer = TimedAnswer & { readonly answer: SchemaAnswer };

const heapMaxMiB = 256;
const youngHeapMaxMiB = 12;
/** A thread ends its work itself, even on a busy machine, unless a single step of the engine takes this long. */
const stuckMs = seconds(10);
const schemaThread = new URL("../event-types/schema-thread.ts", import.meta.url);
const tickMs = 100;
/** Time in which a thread says how long it has worked. One that does not, gets no processor at all. */
const replyMs = seconds(1);

const accountMsPerSecond = 200;
const windowMs = seconds(1);
const accountsMax = 10_000;

/** The threads that run the schemas of accounts, in turns: slow schemas delay another account by one check. */
export class SchemaThreads {
  readonly #steadyMs: () => number;
  readonly #stuckAfterMs: number;
  readonly #turns = new Map<string, Waiting[]>();
  readonly #inHand = new Set<string>();
  /** A second one answers the other accounts while the first is busy for long. */
  readonly #threads: SchemaThread[] = [];
  /** Time at which an account has paid for its work. */
  readonly #paidAtMs = new LRUCache<string, number>(entryLimit(accountsMax));

  readonly #script: URL;

  constructor(steadyMs: () => number, stuckAfterMs = stuckMs, script = schemaThread) {
    this.#steadyMs = steadyMs;
    this.#stuckAfterMs = stuckAfterMs;
    this.#script = script;
  }

  /** @throws AppError `rate_limited` when the account has used its time, `unavailable` without a processor */
  ask(accountId: string, question: SchemaQuestion): Promise<JudgedAnswer> {
    return new Promise((resolve, reject) => {
      const turns = this.#turns.get(accountId) ?? [];
      turns.push({ question, resolve, reject });
      this.#turns.set(accountId, turns);
      this.#next();
    });
  }

  async close(): Promise<void> {
    for (const { reject } of [...this.#turns.values()].flat()) reject(stopping());
    this.#turns.clear();
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  #next(): void {
    for (const accountId of [...this.#turns.keys()].filter((id) => !this.#inHand.has(id))) {
      const thread = this.#idleThread();
      if (thread === null) return;
      const waiting = this.#turnOf(accountId);
      if (waiting) void this.#run(thread, accountId, waiting);
    }
  }

  /** Starts both threads at the first question: later ones do not wait for a start. */
  #idleThread(): SchemaThread | null {
    if (this.#threads.length === 0)
      for (let count = 0; count < 2; count++) this.#threads.push(new SchemaThread(this.#stuckAfterMs, this.#script));
    return this.#threads.find(({ isIdle }) => isIdle) ?? null;
  }

  /** Takes the account's first question. All of them are refused when it has no time left. */
  #turnOf(accountId: string): Waiting | null {
    const waiting = this.#turns.get(accountId) ?? [];
    const owedMs = (this.#paidAtMs.get(accountId) ?? 0) - this.#steadyMs() - windowMs;
    if (owedMs > 0) {
      this.#turns.delete(accountId);
      for (const { reject } of waiting) reject(outOfTime(owedMs));
      return null;
    }
    const first = waiting.shift() ?? null;
    if (waiting.length === 0) this.#turns.delete(accountId);
    return first;
  }

  async #run(thread: SchemaThread, accountId: string, { question, resolve, reject }: Waiting): Promise<void> {
    this.#inHand.add(accountId);
    try {
      const answer = await thread.run(question);
      this.#charge(accountId, answer.workedMs);
      if (isJudged(answer)) resolve(answer);
      else reject(starved());
    } catch (error) {
      reject(error as Error);
    }
    this.#inHand.delete(accountId);
    this.#toTheEnd(accountId);
    this.#next();
  }

  #toTheEnd(accountId: string): void {
    const waiting = this.#turns.get(accountId);
    this.#turns.delete(accountId);
    if (waiting) this.#turns.set(accountId, waiting);
  }

  #charge(accountId: string, workedMs: number): void {
    const fromMs = Math.max(this.#paidAtMs.get(accountId) ?? 0, this.#steadyMs());
    this.#paidAtMs.set(accountId, fromMs + (workedMs * windowMs) / accountMsPerSecond);
  }
}

/** A thread that is replaced when it is stuck or has failed. */
class SchemaThread {
  readonly #stuckAfterMs: number;
  readonly #script: URL;
  #worker: Worker | null = null;
  #isReady = false;
  #workedMs = 0;
  #end: ((answer: TimedAnswer | Error) => void) | null = null;

  constructor(stuckAfterMs: number, script: URL) {
    this.#stuckAfterMs = stuckAfterMs;
    this.#script = script;
    this.#start();
  }

  get isIdle(): boolean {
    return this.#end === null;
  }

  run(question: SchemaQuestion): Promise<TimedAnswer> {
    const worker = this.#worker ?? this.#start();
    return new Promise((resolve, reject) => {
      let waitedMs = 0;
      // Ticks are counted, for a process that was stopped meanwhile has made none.
      const watch = setInterval(() => {
        if (this.#isReady) waitedMs += tickMs;
        if (waitedMs >= this.#stuckAfterMs) {
          clearInterval(watch);
          void this.#giveUp(worker, waitedMs);
        }
      }, tickMs);
      this.#end = (answer) => {
        clearInterval(watch);
        worker.unref();
        this.#end = null;
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      };
      // The question keeps the process alive, not the thread.
      worker.ref();
      worker.postMessage(question);
    });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    this.#end?.(stopping());
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(this.#script, {
      name: "schemas",
      resourceLimits: { maxOldGenerationSizeMb: heapMaxMiB, maxYoungGenerationSizeMb: youngHeapMaxMiB },
      env: {},
    });
    worker.unref();
    worker.on("message", (said: "ready" | TimedAnswer) => {
      if (this.#worker !== worker) return;
      if (said === "ready") this.#isReady = true;
      else {
        this.#workedMs += said.workedMs;
        this.#end?.(said);
      }
    });
    worker.once("error", (error) => this.#fail(worker, error));
    this.#isReady = false;
    this.#workedMs = 0;
    this.#worker = worker;
    return worker;
  }

  /** Ends a thread that does not answer. Its schema is to blame when the thread had the processor meanwhile. */
  async #giveUp(worker: Worker, waitedMs: number): Promise<void> {
    const question = this.#end;
    const worked = await Promise.race([worker.cpuUsage().catch(() => null), sleep(replyMs, null, { ref: false })]);
    // It was answered meanwhile, and the thread may have the next one.
    if (this.#end !== question) return;
    const workedMs = worked === null ? 0 : (worked.user + worked.system) / 1000;
    const isGuilty = workedMs - this.#workedMs >= this.#stuckAfterMs / slowestShare;
    const answer = isGuilty ? guilty : ({ outcome: "starved" } as const);
    this.#fail(worker, { answer, workedMs: waitedMs, checkedMs: waitedMs });
  }

  #fail(worker: Worker, end: TimedAnswer | Error): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    void worker.terminate();
    this.#end?.(end);
  }
}

const guilty = { outcome: "timeout", reason: "check-timeout" } as const;

const isJudged = (timed: TimedAnswer): timed is JudgedAnswer => timed.answer.outcome !== "starved";

const starved = () =>
  new AppError("unavailable", "The schema could not be checked: the service is too busy. Try again.", {
    retryAfterSeconds: 1,
  });

const stopping = () => new AppError("unavailable", "The service is stopping.");

const outOfTime = (owedMs: number) =>
  new AppError("rate_limited", "Checking this account's schemas took too much time. Try again later.", {
    retryAfterSeconds: Math.ceil(owedMs / 1000),
  });
