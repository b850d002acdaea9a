import { FairQueue, threadProcessorMs } from "@signalbox/core";
import type { GraphQLSchema } from "graphql";
import { LRUCache } from "lru-cache";
import { type CompiledPlan, compilePlan } from "./compiled-query-plan.ts";
import { type Planned, type Planner, PlanRefused, stopping } from "./planner.ts";

/** A caller whose operation needs a plan: turns go round callers, and each pays for its own plans. */
export interface PlanCaller {
  readonly id: string;
  /** Throws while the caller may have nothing planned. */
  admit(): void;
  charge(processorMs: number): void;
}

/** A canonical operation without a plan, and the callers who wait for it. */
interface Job {
  readonly text: string;
  readonly waiting: Map<string, Waiting>;
  isBegun: boolean;
}

interface Waiting {
  readonly job: Job;
  readonly caller: PlanCaller;
  readonly made: PromiseWithResolvers<CompiledPlan>;
}

/** Estimate of a compiled plan's bytes for each character of its fetches. */
const bytesPerCharacter = 40;
const entryBytes = 2_048;

/**
 * The plans of canonical operations, each made once. New ones are made one after another, and turns go round the
 * callers: an operation that several callers need has a place in the line of each, and the one whose turn comes first
 * pays.
 */
export class PlanStore {
  readonly #planner: Planner;
  readonly #supergraph: GraphQLSchema;
  readonly #plans: LRUCache<string, CompiledPlan>;
  readonly #jobs = new Map<string, Job>();
  readonly #queue: FairQueue<Waiting>;
  #isPlanning = false;
  #isClosed = false;

  /** `bytesMax` is the memory of plans, `waitingMax` the number of waiting operations of all callers. */
  constructor(planner: Planner, supergraph: GraphQLSchema, bytesMax: number, waitingMax: number) {
    this.#planner = planner;
    this.#supergraph = supergraph;
    this.#queue = new FairQueue(waitingMax);
    this.#plans = new LRUCache({
      maxSize: bytesMax,
      sizeCalculation: ({ operationsLength }, text) =>
        entryBytes + bytesPerCharacter * (operationsLength + text.length),
    });
  }

  /** Returns a plan at once, or in the caller's turn. @throws PlanRefused, and what the caller's `admit` throws */
  planOf(text: string, caller: PlanCaller): CompiledPlan | Promise<CompiledPlan> {
    const known = this.#plans.get(text);
    if (known) return known;
    if (this.#isClosed) throw stopping();
    caller.admit();
    const job = this.#jobs.get(text) ?? { text, waiting: new Map(), isBegun: false };
    const own = job.waiting.get(caller.id);
    if (own) return own.made.promise;
    const waiting: Waiting = { job, caller, made: Promise.withResolvers() };
    this.#jobs.set(text, job);
    job.waiting.set(caller.id, waiting);
    if (!job.isBegun) this.#enqueue(waiting);
    return waiting.made.promise;
  }

  /** Refuses every caller that waits. */
  close(): void {
    this.#isClosed = true;
    for (const job of this.#jobs.values()) this.#settle(job, stopping());
  }

  #enqueue(waiting: Waiting): void {
    const dropped = this.#queue.add(waiting.caller.id, waiting);
    if (dropped) this.#drop(dropped);
    void this.#planNext();
  }

  #drop({ job, caller, made }: Waiting): void {
    job.waiting.delete(caller.id);
    if (job.waiting.size === 0) this.#jobs.delete(job.text);
    made.reject(new PlanRefused("UNAVAILABLE", "Too many operations are waiting to be planned. Try again."));
  }

  async #planNext(): Promise<void> {
    if (this.#isPlanning) return;
    this.#isPlanning = true;
    for (let next = this.#queue.next(); next; next = this.#queue.next()) {
      const { job, caller } = next;
      // It was made in the turn of another caller.
      if (job.isBegun) continue;
      job.isBegun = true;
      const { plan, processorMs } = await this.#planner.plan(job.text);
      const startedMs = threadProcessorMs();
      this.#settle(job, plan instanceof Error ? plan : this.#keep(job.text, plan));
      caller.charge(processorMs + (threadProcessorMs() - startedMs));
    }
    this.#isPlanning = false;
  }

  #keep(text: string, plan: Exclude<Planned["plan"], Error>): CompiledPlan | Error {
    try {
      const compiled = compilePlan(plan, this.#supergraph);
      this.#plans.set(text, compiled);
      return compiled;
    } catch (error) {
      return error as Error;
    }
  }

  #settle(job: Job, plan: CompiledPlan | Error): void {
    this.#jobs.delete(job.text);
    for (const { made } of job.waiting.values()) {
      if (plan instanceof Error) made.reject(plan);
      else made.resolve(plan);
    }
  }
}
