import { Worker } from "node:worker_threads";
import type { QueryPlan } from "@apollo/query-planner";

/** The refusal to plan: the operation is too costly, or too many others wait. */
export class PlanRefused extends Error {
  readonly code: "LIMIT_COST" | "UNAVAILABLE";

  constructor(code: PlanRefused["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** The plan of an operation, or the reason for having none, and the processor time that either took. */
export interface Planned {
  readonly plan: QueryPlan | Error;
  readonly processorMs: number;
}

/** Plans one canonical operation at a time. Never rejects. */
export interface Planner {
  plan(text: string): Promise<Planned>;
}

export interface PlanWorkerData {
  readonly supergraphSdl: string;
  readonly evaluatedPlansMax: number;
  readonly pathsMax: number;
}

/** The first message of the thread, once it can plan. */
interface PlanReady {
  readonly apiSchemaSdl: string;
}

export interface PlanQuestion {
  readonly id: number;
  readonly text: string;
}

/** A plan or the fault of the planner, with the processor time that it took. */
export type PlanAnswer = { readonly id: number; readonly processorMs: number } & (
  | { readonly plan: QueryPlan }
  | { readonly fault: string }
);

const evaluatedPlansMax = 10_000;
/** Maximum number of paths through the subgraphs that are compared per field. */
const pathsMax = 1_000;
const heapMaxMiB = 256;
/** Plans are made one after another, so the garbage of few plans has to fit. */
const youngHeapMaxMiB = 12;
/** A thread that has no plan after this number of checks is stuck, however busy the machine is. */
const looksMax = 40;

interface InHand {
  readonly id: number;
  readonly text: string;
  readonly settle: (planned: Planned) => void;
}

/** The planning thread. One that takes too long for a plan is replaced. */
export class PlannerThread implements Planner {
  readonly #data: PlanWorkerData;
  readonly #planMsMax: number;
  #worker: Worker | null = null;
  #inHand: InHand | null = null;
  #isReady = false;
  #isClosed = false;
  #lastId = 0;

  /** `planMsMax` is processor time for one plan: elapsed time would refuse plans on a busy machine. */
  constructor(supergraphSdl: string, planMsMax: number) {
    this.#data = { supergraphSdl, evaluatedPlansMax, pathsMax };
    this.#planMsMax = planMsMax;
  }

  /** Resolves when the thread can plan. */
  start(): Promise<PlanReady> {
    const worker = new Worker(new URL("./plan-worker.ts", import.meta.url), {
      workerData: this.#data,
      resourceLimits: { maxOldGenerationSizeMb: heapMaxMiB, maxYoungGenerationSizeMb: youngHeapMaxMiB },
      // The gateway would report to its vendor, and ask the metadata services of three clouds where it runs.
      env: { APOLLO_TELEMETRY_DISABLED: "1" },
    });
    this.#worker = worker;
    return new Promise((resolve, reject) => {
      worker.once("message", (ready: PlanReady) => {
        // Pending requests keep the process alive, not the thread.
        worker.unref();
        worker.on("message", (answer: PlanAnswer) => this.#settle(worker, answer));
        this.#isReady = true;
        resolve(ready);
        this.#ask();
      });
      // Running out of memory ends here too.
      worker.once("error", (error) => {
        if (this.#isReady) return this.#replace(worker, this.#lastId);
        this.#worker = null;
        this.#end({ plan: new PlanRefused("UNAVAILABLE", "The query planner failed to start."), processorMs: 0 });
        reject(error);
      });
    });
  }

  plan(text: string): Promise<Planned> {
    return new Promise((settle) => {
      this.#inHand = { id: ++this.#lastId, text, settle };
      if (this.#isClosed) return this.#end({ plan: stopping(), processorMs: 0 });
      // A thread that ended is replaced at the next request.
      if (this.#worker === null) this.start().catch(() => {});
      else this.#ask();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#worker;
    this.#worker = null;
    this.#end({ plan: stopping(), processorMs: 0 });
    await worker?.terminate();
  }

  #ask(): void {
    const worker = this.#worker;
    if (!worker || !this.#isReady || !this.#inHand) return;
    const { id, text } = this.#inHand;
    worker.ref();
    worker.postMessage({ id, text } satisfies PlanQuestion);
    void this.#watch(worker, id);
  }

  /** Terminates the thread when its plan takes too much processor time. */
  async #watch(worker: Worker, id: number): Promise<void> {
    const startedCpuMs = await cpuMsOf(worker);
    for (let looks = 0; this.#isPlanning(worker, id); looks++) {
      await new Promise((resolve) => setTimeout(resolve, this.#planMsMax / 2).unref());
      if (!this.#isPlanning(worker, id)) return;
      const usedMs = (await cpuMsOf(worker)) - startedCpuMs;
      if (usedMs > this.#planMsMax || looks > looksMax) this.#replace(worker, id);
    }
  }

  #isPlanning(worker: Worker, id: number): boolean {
    return this.#worker === worker && this.#inHand?.id === id;
  }

  #settle(worker: Worker, answer: PlanAnswer): void {
    if (!this.#isPlanning(worker, answer.id)) return;
    worker.unref();
    const plan = "plan" in answer ? answer.plan : new Error(`the planner failed: ${answer.fault}`);
    this.#end({ plan, processorMs: answer.processorMs });
  }

  /** Refuses the operation in progress; the next one gets another thread. */
  #replace(worker: Worker, id: number): void {
    if (this.#worker !== worker || this.#lastId !== id) return;
    this.#worker = null;
    this.#isReady = false;
    void worker.terminate();
    const tooHard = "This operation takes too long to plan. Request fewer fields at once.";
    this.#end({ plan: new PlanRefused("LIMIT_COST", tooHard), processorMs: this.#planMsMax });
  }

  #end(planned: Planned): void {
    const ended = this.#inHand;
    this.#inHand = null;
    ended?.settle(planned);
  }
}

export const stopping = () => new PlanRefused("UNAVAILABLE", "The service is stopping.");

async function cpuMsOf(worker: Worker): Promise<number> {
  const { user, system } = await worker.cpuUsage().catch(() => ({ user: 0, system: 0 }));
  return (user + system) / 1000;
}
