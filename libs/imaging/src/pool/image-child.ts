import { type ChildProcess, execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { MiB } from "@signalbox/core";
import type { ChildMessage, ChildOutcome, FatalOutcome, ImageJob } from "../formats/image-jobs.ts";
import { decoderRelease } from "../formats/rendition.ts";

const script = fileURLToPath(new URL("../child/image-process.ts", import.meta.url));
const run = promisify(execFile);

/** The enforcement of a child's memory limit: by the kernel, or by polling. */
export type MemoryGuard = "kernel" | "sampled";

export interface ChildOptions {
  /** Its own working folder. */
  readonly scratch: string;
  /** Memory beyond that before its first job. */
  readonly memoryMax: number;
}

export interface ChildAnswer {
  readonly outcome: ChildOutcome;
  readonly peakBytes: number;
}

interface JobUnderWay {
  readonly resolve: (answer: ChildAnswer | null) => void;
  /** True when the child has confirmed the job. */
  hasStarted: boolean;
  readonly timers: readonly NodeJS.Timeout[];
}

/** More descriptors than it uses, fewer than could do harm. */
const descriptorsMax = 64;
const startMs = 20_000;
const sampleEveryMs = 25;
/** Least share of a processor with which a job has had its time, and the shortest time that its clock can measure. */
const leastShare = 0.5;
const judgedFromMs = 1_000;
/**
 * Settings of glibc: with an explicit threshold the buffers of an image are returned when it is done. It costs no
 * measurable time.
 */
const allocator = { MALLOC_ARENA_MAX: "1", MALLOC_MMAP_THRESHOLD_: `${MiB}`, MALLOC_TRIM_THRESHOLD_: `${MiB}` };
/** Length of its last output that shows the cause of a crash. */
const lastWordsMax = 2_000;

/** A process that decodes and encodes, one job at a time, and that may crash. */
export class ImageChild {
  readonly #process: ChildProcess;
  readonly #options: ChildOptions;
  #job: JobUnderWay | null = null;
  #verdict: FatalOutcome | null = null;
  #lastWords = "";
  #guard: MemoryGuard = "sampled";
  #baseBytes = 0;
  jobs = 0;
  residentBytes = 0;
  isGone = false;
  /** Resolves when the process has ended, for any reason. */
  readonly ended: Promise<void>;

  private constructor(options: ChildOptions) {
    this.#options = options;
    // An empty environment: one thread for one image, and memory is returned. No descriptor but the channel.
    const env = { UV_THREADPOOL_SIZE: "1", ...allocator, TMPDIR: options.scratch };
    this.#process = spawn(process.execPath, ["--v8-pool-size=0", script], {
      env,
      cwd: options.scratch,
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#process.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-lastWordsMax);
    });
    this.ended = new Promise((resolve) => {
      this.#process.on("error", () => resolve(this.#onEnd(null, null)));
      this.#process.once("close", (code, signal) => resolve(this.#onEnd(code, signal)));
    });
  }

  /** Starts a child and waits until it has verified that it opens only images. Throws when it has not. */
  static async start(options: ChildOptions): Promise<ImageChild> {
    const child = new ImageChild(options);
    try {
      const ready = await child.#firstMessage();
      if (ready.kind !== "ready") throw new Error(ready.kind === "unfit" ? ready.reason : "it did not answer");
      if (ready.release !== decoderRelease) throw new Error(`the decoder is ${ready.release}, not ${decoderRelease}`);
      await child.#bound(ready.dataBytes);
    } catch (error) {
      child.kill();
      throw new Error(`An image process did not start: ${(error as Error).message}`, { cause: error });
    }
    child.#process.on("message", (message: ChildMessage) => child.#onMessage(message));
    return child;
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get guard(): MemoryGuard {
    return this.#guard;
  }

  /**
   * Runs a job. Resolves with an answer, or with the end of the child; null when the child ended before it received the
   * job, unless the job's time was over.
   */
  run(job: ImageJob, { limitMs }: { readonly limitMs: number }): Promise<ChildAnswer | null> {
    this.jobs++;
    return new Promise((resolve) => {
      if (this.isGone) return resolve(null);
      const startedMs = this.#processorMs();
      const isStarved = () => limitMs >= judgedFromMs && this.#processorMs() - startedMs < limitMs * leastShare;
      const timers = [setTimeout(() => this.#condemn(isStarved() ? "interrupted" : "too-slow"), limitMs)];
      if (this.#guard === "sampled") timers.push(setInterval(() => void this.#look(), sampleEveryMs));
      this.#job = { resolve, timers, hasStarted: false };
      this.#process.send(job, (error) => {
        if (error) this.kill();
      });
    });
  }

  /** Returns the time that processors have spent on it (proc_pid_stat(5)); on other systems none is known. */
  #processorMs(): number {
    try {
      const [, rest = ""] = readFileSync(`/proc/${this.pid}/stat`, "latin1").split(") ");
      const [user, system] = rest.split(" ").slice(11, 13).map(Number);
      return 10 * ((user ?? 0) + (system ?? 0));
    } catch {
      return Number.POSITIVE_INFINITY;
    }
  }

  /** Kills the process immediately. */
  kill(): void {
    this.#verdict ??= "crashed";
    this.#process.kill("SIGKILL");
  }

  async #firstMessage(): Promise<ChildMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<ChildMessage>();
    const timer = setTimeout(() => reject(new Error("it took too long")), startMs);
    this.#process.once("message", resolve);
    void this.ended.then(() => reject(new Error(this.#lastWords.trim() || "it ended at its start")));
    return promise.finally(() => clearTimeout(timer));
  }

  /** Sets the kernel's limits. Without util-linux its resident memory is polled instead. */
  async #bound(dataBytes: number): Promise<void> {
    const data = dataBytes + this.#options.memoryMax;
    const limits = [`--data=${data}:${data}`, "--core=0:0", `--nofile=${descriptorsMax}:${descriptorsMax}`];
    const isBound =
      dataBytes > 0 &&
      (await run("prlimit", [`--pid=${this.pid}`, ...limits]).then(
        () => true,
        () => false,
      ));
    this.#guard = isBound ? "kernel" : "sampled";
    this.#baseBytes = (await residentBytesOf(this.pid)) ?? 0;
    this.residentBytes = this.#baseBytes;
  }

  async #look(): Promise<void> {
    const bytes = await residentBytesOf(this.pid);
    if (bytes !== null && bytes > this.#baseBytes + this.#options.memoryMax) this.#condemn("out-of-memory");
  }

  #condemn(verdict: FatalOutcome): void {
    this.#verdict ??= verdict;
    this.kill();
  }

  #onMessage(message: ChildMessage): void {
    if (message.kind === "started" && this.#job) this.#job.hasStarted = true;
    if (message.kind !== "answer") return;
    this.residentBytes = message.residentBytes;
    this.#finish({ outcome: message.answer, peakBytes: Math.max(0, message.peakBytes - this.#baseBytes) });
  }

  #onEnd(code: number | null, signal: NodeJS.Signals | null): void {
    this.isGone = true;
    const reason = `${signal ?? `code ${code}`} ${this.#lastWords}`.trim().slice(0, 500);
    const outcome = this.#verdict ?? causeOf(signal, this.#lastWords);
    // Another process would not have more time for a job whose time is over.
    const isJobs = this.#job?.hasStarted || outcome === "too-slow" || this.#verdict === "interrupted";
    this.#finish(isJobs ? { outcome: { outcome, reason }, peakBytes: this.#options.memoryMax } : null);
  }

  #finish(answer: ChildAnswer | null): void {
    const job = this.#job;
    if (!job) return;
    this.#job = null;
    for (const timer of job.timers) clearInterval(timer);
    job.resolve(answer);
  }
}

/**
 * Finds the cause of an end: a kill that was not ours came from a machine that was out of memory; a refused allocation
 * is reported before the abort.
 */
function causeOf(signal: NodeJS.Signals | null, lastWords: string): FatalOutcome {
  if (signal === "SIGKILL") return "interrupted";
  return /out of memory|bad_alloc|allocat/i.test(lastWords) ? "out-of-memory" : "crashed";
}

/** Reads the resident memory of a process; null when it has ended. */
async function residentBytesOf(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, "latin1").catch(() => null);
  const listed = status === null ? await run("ps", ["-o", "rss=", "-p", String(pid)]).catch(() => null) : null;
  const kib = status === null ? listed?.stdout.trim() : /^VmRSS:\s+(\d+)/m.exec(status)?.[1];
  return kib ? Number(kib) * 1024 : null;
}
