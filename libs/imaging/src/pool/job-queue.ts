import type { JobCost } from "./job-costs.ts";

/** The demand of a job on the queue. Turns rotate by `turn`: an account, or the address of an anonymous caller. */
interface JobDemand {
  readonly turn: string;
  readonly cost: JobCost;
}

/** A waiting or running job. */
export interface QueuedJob extends JobDemand {
  readonly start: () => void;
}

interface JobQueueOptions {
  /** Number of concurrent jobs: one per core, more makes every image slower and none faster. */
  readonly slots: number;
  /** Memory of running jobs together. A job with a larger estimate runs alone. */
  readonly memoryMax: number;
}

/** Longer jobs leave a slot to the short ones, where there are two. */
export const heavyFromMs = 250;
/** Most waiting jobs of one turn: many pages of pictures, and a bound on what one account keeps in memory. */
const waitingMax = 1_000;
/** Time after which a large job without room stops smaller ones from going first. */
const starvationMs = 1_000;

interface Waiting {
  readonly job: QueuedJob;
  readonly sinceMs: number;
}

/** Jobs in the order of their turns. Decides which one runs next and how long a new one would wait; it runs nothing. */
export class JobQueue {
  readonly #slots: number;
  readonly #heavySlots: number;
  readonly #memoryMax: number;
  /** Waiting jobs by turn, in their order. */
  readonly #turns = new Map<string, Waiting[]>();
  /** Running jobs with their start times. */
  readonly #running = new Map<QueuedJob, number>();

  constructor({ slots, memoryMax }: JobQueueOptions) {
    this.#slots = slots;
    this.#heavySlots = Math.max(1, slots - 1);
    this.#memoryMax = memoryMax;
  }

  get running(): number {
    return this.#running.size;
  }

  waiting(): { readonly quick: number; readonly heavy: number } {
    const all = [...this.#turns.values()].flat();
    const heavy = all.filter(({ job }) => isHeavy(job)).length;
    return { quick: all.length - heavy, heavy };
  }

  add(job: QueuedJob, nowMs: number): void {
    const waiting = { job, sinceMs: nowMs };
    const turn = this.#turns.get(job.turn);
    if (turn) turn.push(waiting);
    else this.#turns.set(job.turn, [waiting]);
  }

  /** Removes a waiting job; false when it is no longer waiting. */
  remove(job: QueuedJob): boolean {
    const jobs = this.#turns.get(job.turn);
    const at = jobs?.findIndex((waiting) => waiting.job === job) ?? -1;
    if (!jobs || at < 0) return false;
    jobs.splice(at, 1);
    if (jobs.length === 0) this.#turns.delete(job.turn);
    return true;
  }

  /** Returns true when as many jobs of this turn wait as may. */
  isFull(turn: string): boolean {
    return (this.#turns.get(turn)?.length ?? 0) >= waitingMax;
  }

  /** Returns true when no quick, or no long, job of the same turn waits before this one. */
  isFirst(job: QueuedJob): boolean {
    const jobs = this.#turns.get(job.turn) ?? [];
    return jobs.find((waiting) => isHeavy(waiting.job) === isHeavy(job))?.job === job;
  }

  /** Takes the next job, which then counts as running, or null when none may start now. */
  take(nowMs: number): QueuedJob | null {
    const running = [...this.#running.keys()];
    for (const [turn, jobs] of this.#inTurn()) {
      if (!hasRoomAmong(running, this.#slots, turn)) continue;
      const next = jobs.find(({ job }) => this.#mayStart(job));
      if (next) return this.#begin(next.job, nowMs);
      // Among jobs that only lack memory, one that has waited for too long is next, and the others wait with it.
      if (jobs.some(({ job, sinceMs }) => this.#hasRoom(job) && nowMs - sinceMs > starvationMs)) return null;
    }
    return null;
  }

  ended(job: QueuedJob): void {
    this.#running.delete(job);
  }

  /** Estimates the wait of a new job: for its own turn's jobs, and for as many rounds of the others. */
  waitMs({ turn, cost }: JobDemand, nowMs: number): number {
    const heavy = isHeavy({ cost });
    const inLane = (waiting: readonly Waiting[]) =>
      waiting.map(({ job }) => job).filter((job) => isHeavy(job) === heavy);
    const own = inLane(this.#turns.get(turn) ?? []);
    const others = [...this.#turns].flatMap(([name, jobs]) =>
      name === turn ? [] : inLane(jobs).slice(0, own.length + 1),
    );
    const running = [...this.#running].filter(([job]) => isHeavy(job) === heavy);
    const slots = heavy ? this.#heavySlots : this.#quickSlots();
    if (own.length === 0 && this.#hasRoom({ turn, cost })) return 0;
    const ahead = [...own, ...others].map((job) => job.cost.ms);
    const left = running.map(([job, startedMs]) => Math.max(0, job.cost.ms - (nowMs - startedMs)));
    return [...ahead, ...left].reduce((sum, ms) => sum + ms, 0) / slots;
  }

  /** Lists the turns with fewer running jobs first: an account that has none does not wait for a second one of another. */
  #inTurn(): readonly [turn: string, Waiting[]][] {
    const running = new Map<string, number>();
    for (const { turn } of this.#running.keys()) running.set(turn, (running.get(turn) ?? 0) + 1);
    const runningOf = ([turn]: [string, Waiting[]]) => running.get(turn) ?? 0;
    return [...this.#turns].sort((a, b) => runningOf(a) - runningOf(b));
  }

  /** Starts a job and moves its turn to the end of the round. */
  #begin(job: QueuedJob, nowMs: number): QueuedJob {
    this.remove(job);
    const rest = this.#turns.get(job.turn);
    if (rest) {
      this.#turns.delete(job.turn);
      this.#turns.set(job.turn, rest);
    }
    this.#running.set(job, nowMs);
    return job;
  }

  /** Returns the number of slots that quick jobs can count on. */
  #quickSlots(): number {
    const heavy = this.#heavyRunning() + this.waiting().heavy;
    return Math.max(1, this.#slots - Math.min(this.#heavySlots, heavy));
  }

  #mayStart(job: QueuedJob): boolean {
    if (!this.#hasRoom(job)) return false;
    const bytes = [...this.#running.keys()].reduce((sum, { cost }) => sum + cost.bytes, 0);
    return this.#running.size === 0 || bytes + job.cost.bytes <= this.#memoryMax;
  }

  #hasRoom(job: JobDemand): boolean {
    const running = [...this.#running.keys()];
    if (!hasRoomAmong(running, this.#slots, job.turn)) return false;
    return !isHeavy(job) || hasRoomAmong(running.filter(isHeavy), this.#heavySlots, job.turn);
  }

  #heavyRunning(): number {
    return [...this.#running.keys()].filter(isHeavy).length;
  }
}

/** One more than the slots may run where one turn holds them all: nobody waits for the jobs of a single other caller. */
function hasRoomAmong(running: readonly QueuedJob[], slots: number, turn: string): boolean {
  if (running.length < slots) return true;
  const [holder] = running;
  return running.length === slots && holder?.turn !== turn && running.every((job) => job.turn === holder?.turn);
}

function isHeavy({ cost }: { readonly cost: JobCost }): boolean {
  return cost.ms > heavyFromMs;
}
