import { Worker } from "node:worker_threads";
import type { QueryPlan } from "@apollo/query-planner";
import type { PlanAnswer, PlanQuestion, PlanReady, PlanWorkerData } from "./planning-messages.ts";

/** The refusal to plan: the operation is too costly, or too many others wait. */
export class PlanRefused extends Error {
  readonly code: "LIMIT_COST" | "UNAVAILABLE";

  constructor(code: PlanRefused["code"], message: string) {
    super(message);
    this.code = code;
  }
}

export interface PlannerOptions {
  /** Processor time for one plan. Elapsed time would refuse plans on a busy machine. */
  readonly planMsMax: number;
  /** Maximum number of waiting operations. */
  readonly waitingMax: number;
}

export interface Planner {
  /** SDL of the public schema. */
  readonly apiSchemaSdl: string;
  /** Plans a canonical operation. @throws PlanRefused */
  plan(text: string): Promise<QueryPlan>;
  close(): Promise<void>;
}

interface Waiting {
  readonly text: string;
  readonly resolve: (plan: QueryPlan) => void;
  readonly reject: (error: Error) => void;
}

const evaluatedPlansMax = 10_000;
/** Maximum number of paths through the subgraphs that are compared per field. */
const pathsMax = 1_000;
const heapMaxMiB = 256;
/** Plans are made one after another, so the garbage of few plans has to fit. */
const youngHeapMaxMiB = 12;
/** A thread that has no plan after this number of checks is stuck, however busy the machine is. */
const looksMax = 40;

/** Starts the planning thread. Plans are made one at a time; a thread that takes too long for one is replaced. */
export async function openPlanner(supergraphSdl: string, options: PlannerOptions): Promise<Planner> {
  const line = new PlanningLine(supergraphSdl, options);
  const { apiSchemaSdl } = await line.start();
  return { apiSchemaSdl, plan: (text) => line.plan(text), close: () => line.close() };
}

/** The queue of operations to plan, and the planning thread. */
class PlanningLine {
  readonly #data: PlanWorkerData;
  readonly #options: PlannerOptions;
  readonly #waiting: Waiting[] = [];
  #worker: Worker | null = null;
  #inHand: Waiting | null = null;
  #isReady = false;
  #isClosed = false;
  #lastId = 0;

  constructor(supergraphSdl: string, options: PlannerOptions) {
    this.#data = { supergraphSdl, evaluatedPlansMax, pathsMax };
    this.#options = options;
  }

  /** Resolves when the thread can plan. */
  start(): Promise<PlanReady> {
    const worker = new Worker(new URL("./plan-worker.ts", import.meta.url), {
      workerData: this.#data,
      resourceLimits: { maxOldGenerationSizeMb: heapMaxMiB, maxYoungGenerationSizeMb: youngHeapMaxMiB },
      // The planner reads its environment, and needs none of it.
      env: {},
    });
    this.#worker = worker;
    return new Promise((resolve, reject) => {
      worker.once("message", (ready: PlanReady) => {
        // Pending requests keep the process alive, not the thread.
        worker.unref();
        worker.on("message", (answer: PlanAnswer) => this.#settle(worker, answer));
        this.#isReady = true;
        resolve(ready);
        this.#next();
      });
      // Running out of memory ends here too.
      worker.once("error", (error) => {
        if (this.#isReady) return this.#replace(worker, this.#lastId);
        this.#worker = null;
        this.#refuseAll("The query planner failed to start.");
        reject(error);
      });
    });
  }

  plan(text: string): Promise<QueryPlan> {
    if (this.#isClosed || this.#waiting.length >= this.#options.waitingMax)
      throw new PlanRefused("UNAVAILABLE", "Too many operations are waiting to be planned. Try again.");
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, resolve, reject });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#worker;
    this.#worker = null;
    this.#refuseAll("The service is stopping.");
    await worker?.terminate();
  }

  #refuseAll(why: string): void {
    for (const { reject } of [...this.#waiting.splice(0), ...(this.#inHand ? [this.#inHand] : [])])
      reject(new PlanRefused("UNAVAILABLE", why));
    this.#inHand = null;
  }

  #next(): void {
    // A thread that ended is replaced at the next request.
    if (this.#worker === null && !this.#isClosed) this.start().catch(() => {});
    const worker = this.#worker;
    if (!worker || !this.#isReady || this.#inHand) return;
    const next = this.#waiting.shift();
    if (!next) return;
    this.#inHand = next;
    const question: PlanQuestion = { id: ++this.#lastId, text: next.text };
    worker.ref();
    worker.postMessage(question);
    void this.#watch(worker, question.id);
  }

  /** Terminates the thread when its plan takes too much processor time. */
  async #watch(worker: Worker, id: number): Promise<void> {
    const { planMsMax } = this.#options;
    const startedCpuMs = await cpuMsOf(worker);
    for (let looks = 0; this.#isPlanning(worker, id); looks++) {
      await new Promise((resolve) => setTimeout(resolve, planMsMax / 2).unref());
      if (!this.#isPlanning(worker, id)) return;
      const usedMs = (await cpuMsOf(worker)) - startedCpuMs;
      if (usedMs > planMsMax || looks > looksMax) this.#replace(worker, id);
    }
  }

  #isPlanning(worker: Worker, id: number): boolean {
    return this.#worker === worker && this.#inHand !== null && this.#lastId === id;
  }

  #settle(worker: Worker, answer: PlanAnswer): void {
    const settled = this.#inHand;
    if (this.#worker !== worker || !settled || answer.id !== this.#lastId) return;
    this.#inHand = null;
    worker.unref();
    if ("plan" in answer) settled.resolve(answer.plan);
    else settled.reject(new Error(`the planner failed: ${answer.fault}`));
    this.#next();
  }

  /** Refuses the operation in progress; the others wait for the next thread. */
  #replace(worker: Worker, id: number): void {
    if (this.#worker !== worker || this.#lastId !== id) return;
    this.#worker = null;
    this.#isReady = false;
    this.#inHand?.reject(
      new PlanRefused("LIMIT_COST", "This operation takes too long to plan. Request fewer fields at once."),
    );
    this.#inHand = null;
    void worker.terminate();
    if (this.#waiting.length > 0) this.#next();
  }
}

async function cpuMsOf(worker: Worker): Promise<number> {
  const { user, system } = await worker.cpuUsage().catch(() => ({ user: 0, system: 0 }));
  return (user + system) / 1000;
}
