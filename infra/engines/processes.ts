import { execFile, spawn } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

export const run = promisify(execFile);

/** A process of an engine, told apart from a later process with the same pid by its start time. */
export interface ProcessHandle {
  readonly pid: number;
  readonly identity: string;
}

interface DetachedProgram {
  readonly command: string;
  readonly args: readonly string[];
  /** Receives standard output and standard error. */
  readonly logFile: string;
  readonly folder: string;
  readonly user?: { readonly uid: number; readonly gid: number };
}

const startWaitMs = 60_000;

/**
 * Starts a program in a process group of its own, so that neither Ctrl-C nor the death of this process ends it, and
 * returns once `ready` says so. A program that ends before, or takes longer than a minute, is an error with the end of
 * its log.
 */
export async function startDetached(program: DetachedProgram, ready: () => Promise<boolean>) {
  const log = openSync(program.logFile, "a");
  const child = spawn(program.command, program.args, {
    cwd: program.folder,
    detached: true,
    stdio: ["ignore", log, log],
    ...program.user,
  });
  closeSync(log);
  let ended: string | null = null;
  child.once("error", (error) => {
    ended = error.message;
  });
  child.once("exit", (code, signal) => {
    ended ??= `ended with ${signal ?? `code ${code}`}`;
  });
  child.unref();

  const giveUpAt = performance.now() + startWaitMs;
  while (!(await ready())) {
    const late = performance.now() > giveUpAt;
    if (late) child.kill("SIGKILL");
    if (late || ended) {
      const problem = ended ?? `is not ready after ${startWaitMs} ms`;
      throw new Error(`${program.command} ${problem}; the end of ${program.logFile}:\n${lastLines(program.logFile)}`);
    }
    await sleep(20);
  }
  const pid = child.pid as number;
  return { pid, identity: (await processIdentity(pid)) ?? "" } satisfies ProcessHandle;
}

function lastLines(file: string): string {
  return readFileSync(file, "utf8").trimEnd().split("\n").slice(-15).join("\n");
}

/** The start time, which tells this process from another with the same pid; null when it has ended. */
export async function processIdentity(pid: number): Promise<string | null> {
  if (process.platform === "linux") return linuxIdentity(pid);
  try {
    const { stdout } = await run("ps", ["-o", "lstart=", "-o", "stat=", "-p", String(pid)]);
    const text = stdout.trim();
    return text === "" || /\sZ\S*$/.test(text) ? null : text.replace(/\s+\S+$/, "");
  } catch {
    return null;
  }
}

function linuxIdentity(pid: number): string | null {
  const fields = linuxStat(pid);
  // A zombie has ended; where nobody reaps it, it stays in the table for as long as the container lives.
  return !fields || fields[0] === "Z" || fields[0] === "X" ? null : (fields[19] ?? null);
}

/** proc(5): the fields after the parenthesised name: state, parent, … and as the twentieth the start time in ticks. */
function linuxStat(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null;
  }
}

/** The name of the program a process runs, or an empty text when it runs no more. */
export async function processCommand(pid: number): Promise<string> {
  try {
    if (process.platform === "linux") return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
    return (await run("ps", ["-o", "comm=", "-p", String(pid)])).stdout.trim();
  } catch {
    return "";
  }
}

/** A process and its children, the parent first. PostgreSQL's children lead groups of their own, so groups do not do. */
export async function processTree(pid: number): Promise<number[]> {
  if ((await processIdentity(pid)) === null) return [];
  const rows = process.platform === "linux" ? linuxParents() : await listedParents();
  const tree = [pid];
  for (const parent of tree) tree.push(...rows.filter(([, ppid]) => ppid === parent).map(([child]) => child as number));
  return tree;
}

type Parents = (readonly [pid: number, parent: number])[];

/** proc(5) instead of `ps`, which slim images leave out. Field 4 is the parent. */
function linuxParents(): Parents {
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  return pids.map((pid) => [pid, Number(linuxStat(pid)?.[1])] as const);
}

async function listedParents(): Promise<Parents> {
  const { stdout } = await run("ps", ["-A", "-o", "pid=", "-o", "ppid="]);
  const lines = stdout.trim().split("\n");
  return lines.map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
}

/** Returns true while the very process of `handle` runs. */
export async function isRunning(handle: ProcessHandle): Promise<boolean> {
  return (await processIdentity(handle.pid)) === handle.identity;
}

/** Halts processes by SIGSTOP and returns once they stand still: the signal itself only asks for it. */
export async function haltProcesses(pids: readonly number[]): Promise<void> {
  for (const pid of pids) signalProcess(pid, "SIGSTOP");
  // A zombie runs no more, and stays one for as long as its parent stands still.
  while ((await Promise.all(pids.map(processState))).some((state) => !["T", "Z", "X", ""].includes(state)))
    await sleep(5);
}

/** One letter of ps(1) or proc(5), such as `S` (sleeps) or `T` (halted); empty when there is no such process. */
export async function processState(pid: number): Promise<string> {
  if (process.platform === "linux") return linuxStat(pid)?.[0] ?? "";
  const { stdout } = await run("ps", ["-o", "stat=", "-p", String(pid)]).catch(() => ({ stdout: "" }));
  return stdout.trim().slice(0, 1);
}

/** Asks the process to stop, waits up to `graceMs`, then kills it. Does nothing when it has ended or the pid is another's. */
export async function stopProcess(handle: ProcessHandle, signal: NodeJS.Signals, graceMs = 15_000): Promise<void> {
  if (!(await isRunning(handle))) return;
  signalProcess(handle.pid, signal);
  // A stopped process (SIGSTOP) would not see the signal before it continues.
  signalProcess(handle.pid, "SIGCONT");
  if (await hasEnded(handle, graceMs)) return;
  signalProcess(handle.pid, "SIGKILL");
  if (!(await hasEnded(handle, 5_000))) throw new Error(`process ${handle.pid} survives SIGKILL`);
}

async function hasEnded(handle: ProcessHandle, waitMs: number): Promise<boolean> {
  const giveUpAt = performance.now() + waitMs;
  while (await isRunning(handle)) {
    if (performance.now() > giveUpAt) return false;
    await sleep(20);
  }
  return true;
}

/** Sends a signal to a process; that it has ended meanwhile is no error. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
