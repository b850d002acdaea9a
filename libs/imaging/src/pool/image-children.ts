import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { MiB, seconds } from "@signalbox/core";
import { ImageChild, type MemoryGuard } from "./image-child.ts";

/** The reason of a child's end. */
export type ChildEnd = "crashed" | "out-of-memory" | "too-slow" | "interrupted" | "cancelled" | "recycled" | "idle";

interface ImageChildrenOptions {
  /** Folder of the children, each in a subfolder. */
  readonly directory: string;
  readonly memoryMax: number;
  readonly log: { warn(fields: object, message: string): void };
  readonly idleMs?: number;
}

interface Taker {
  readonly resolve: (child: ImageChild) => void;
  readonly reject: (error: unknown) => void;
}

/** Jobs after which a child is worn, before its leaks matter. */
const jobsMax = 500;
const residentMax = 220 * MiB;
/** Longer than the pause between a page's requests; an idle process wastes memory. */
const idleMsDefault = seconds(2);

/** The processes of a pool. Starting one takes longer than most jobs, so a job gets the child that is ready first. */
export class ImageChildren {
  readonly #options: ImageChildrenOptions;
  readonly #alive = new Set<ImageChild>();
  readonly #idle: { readonly child: ImageChild; readonly timer: NodeJS.Timeout }[] = [];
  /** Jobs that wait for a child, in their order. */
  readonly #takers: Taker[] = [];
  /** Children that are to be replaced, and those that have been. */
  readonly #worn = new WeakMap<ImageChild, "worn" | "replaced">();
  readonly #ended: Record<ChildEnd, number>;
  #started = 0;
  #isGrowing = false;
  #isClosed = false;
  #guard: MemoryGuard = "sampled";

  constructor(options: ImageChildrenOptions) {
    this.#options = options;
    this.#ended = { crashed: 0, "out-of-memory": 0, "too-slow": 0, interrupted: 0, cancelled: 0, recycled: 0, idle: 0 };
  }

  get idle(): number {
    return this.#idle.length;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get guard(): MemoryGuard {
    return this.#guard;
  }

  state() {
    return { alive: this.#alive.size, started: this.#started, ended: { ...this.#ended }, memoryGuard: this.#guard };
  }

  /** Starts a child in advance, so that the first job need not wait for one. */
  async warm(): Promise<void> {
    this.rest(await this.#start());
  }

  /** Returns an idle child, or the first one that is ready: a new one, or one whose job has ended meanwhile. */
  take(): Promise<ImageChild> {
    for (let rested = this.#idle.pop(); rested; rested = this.#idle.pop()) {
      clearTimeout(rested.timer);
      if (!rested.child.isGone) return Promise.resolve(rested.child);
    }
    if (this.#isClosed) return Promise.reject(closed());
    const { promise, resolve, reject } = Promise.withResolvers<ImageChild>();
    this.#takers.push({ resolve, reject });
    void this.#grow();
    return promise;
  }

  /** Gives a child to the next job, or keeps it for one. A worn one works until its successor is ready. */
  rest(child: ImageChild): void {
    if (child.isGone) return;
    if (this.#isClosed || this.#worn.get(child) === "replaced") {
      this.end(child, "recycled");
      return;
    }
    if (child.jobs >= jobsMax || child.residentBytes > residentMax) void this.#replace(child);
    const taker = this.#takers.shift();
    if (taker) taker.resolve(child);
    else this.#keepIdle(child);
  }

  /** The last idle one stays warm. */
  #keepIdle(child: ImageChild): void {
    const timer = setTimeout(
      () => this.#idle.length > 1 && this.#endIdle(child, "idle"),
      this.#options.idleMs ?? idleMsDefault,
    );
    timer.unref();
    this.#idle.push({ child, timer });
  }

  end(child: ImageChild, why: ChildEnd): void {
    this.note(why);
    child.kill();
  }

  /** Counts an end. */
  note(why: ChildEnd): void {
    this.#ended[why]++;
  }

  /** Ends every child, whatever it does. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#takers.splice(0)) reject(closed());
    for (const { timer } of this.#idle.splice(0)) clearTimeout(timer);
    const children = [...this.#alive];
    for (const child of children) child.kill();
    await Promise.all(children.map(({ ended }) => ended));
  }

  /** Starts children while jobs wait for one, one at a time: together they would slow down each other and the jobs. */
  async #grow(): Promise<void> {
    if (this.#isGrowing) return;
    this.#isGrowing = true;
    while (this.#takers.length > 0 && !this.#isClosed) {
      await this.warm().catch((error: unknown) => this.#takers.shift()?.reject(error));
    }
    this.#isGrowing = false;
  }

  async #replace(child: ImageChild): Promise<void> {
    if (this.#worn.has(child)) return;
    this.#worn.set(child, "worn");
    try {
      const successor = await this.#start();
      this.#worn.set(child, "replaced");
      this.#endIdle(child, "recycled");
      this.rest(successor);
    } catch (error) {
      this.#worn.delete(child);
      this.#options.log.warn({ error }, "replacing a process for images failed");
    }
  }

  /** Ends a child if it is idle. */
  #endIdle(child: ImageChild, why: ChildEnd): void {
    const at = this.#idle.findIndex((rested) => rested.child === child);
    if (at < 0) return;
    for (const { timer } of this.#idle.splice(at, 1)) clearTimeout(timer);
    this.end(child, why);
  }

  async #start(): Promise<ImageChild> {
    const { directory, memoryMax } = this.#options;
    const scratch = await mkdtemp(join(directory, "child-"));
    const child = await ImageChild.start({ scratch, memoryMax }).catch(async (error) => {
      await rm(scratch, { recursive: true, force: true });
      throw error;
    });
    this.#started++;
    this.#guard = child.guard;
    this.#alive.add(child);
    if (this.#isClosed) child.kill();
    void child.ended.then(() => this.#bury(child, scratch));
    return child;
  }

  async #bury(child: ImageChild, scratch: string): Promise<void> {
    this.#alive.delete(child);
    await rm(scratch, { recursive: true, force: true });
    if (this.#alive.size > 0 || this.#isClosed) return;
    const { log } = this.#options;
    await this.warm().catch((error: unknown) => log.warn({ error }, "keeping a process for images warm failed"));
  }
}

const closed = () => new Error("the pool is closed");
