import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { environment } from "@signalbox/runtime";
import type { EngineName } from "../../engines/engine.ts";
import { withSharedEngines } from "../../engines/index.ts";
import { root } from "../../generate/repository.ts";
import { bundlesOf, writeBundles } from "./bundles.ts";
import type { FileTimes } from "./run-files.ts";
import { watchTests } from "./watch-tests.ts";

/** Processes at once, on two cores: tests wait for sockets, timers and PostgreSQL for three quarters of their time. */
const processesAtOnce = 6;
/** Longer than the slowest test of the default tiers on a busy machine; without it a test that hangs would hold the run. */
const testTimeoutMs = 10 * 60_000;
/** Bundles live inside the repository: what they import is resolved from there. */
const bundlesFolder = join(root, "node_modules", ".cache", "signalbox", "tests");

export interface RunOptions {
  /** Options of node's runner, such as `--test-name-pattern=<words>`. */
  readonly runnerOptions?: readonly string[];
  /** Prints the slowest files at the end. */
  readonly slowest?: boolean;
  readonly atOnce?: number;
}

/** Runs test files under node's own runner, each package's files in few processes. True when every test ran and passed. */
export async function runTests(
  files: readonly string[],
  { runnerOptions = [], slowest = false, atOnce = processesAtOnce }: RunOptions = {},
): Promise<boolean> {
  if (runnerOptions.includes("--watch")) {
    await watchTests(files, runnerOptions);
    return true;
  }
  const folder = await mkdtemp(join(tmpdir(), "signalbox-test-"));
  const timesFile = join(folder, "times.jsonl");
  const countsFile = join(folder, "counts.json");
  // A folder for each run: two runs in one clone do not share their bundles.
  const bundles = join(bundlesFolder, String(process.pid));
  try {
    const scripts = await writeBundles(bundles, await bundlesOf(files));
    const argv = [
      "--test",
      `--test-concurrency=${atOnce}`,
      `--test-timeout=${testTimeoutMs}`,
      // Young objects die before they are copied twice: 7 % of the processor time of tests.
      "--max-semi-space-size=32",
      "--test-reporter=./infra/tasks/tests/count-reporter.ts",
      `--test-reporter-destination=${countsFile}`,
      "--test-reporter=./infra/tasks/tests/file-reporter.ts",
      "--test-reporter-destination=stdout",
      ...runnerOptions,
      ...scripts,
    ];
    const code = await runNode(argv, { TEST_TIMES_FILE: timesFile });
    if (slowest) console.log(await slowestFiles(timesFile));
    const counts: TestCounts = JSON.parse(await readFile(countsFile, "utf8"));
    // Naming tests leaves the others out on purpose.
    return code === 0 && (runnerOptions.length > 0 || everyTestRan(counts));
  } finally {
    await rm(folder, { recursive: true });
    await rm(bundles, { recursive: true, force: true });
  }
}

/** The totals that `count-reporter.ts` writes. */
export interface TestCounts {
  readonly tests: number;
  readonly skipped: number;
  readonly todo: number;
}

function everyTestRan(counts: TestCounts): boolean {
  if (counts.tests > 0 && counts.skipped === 0 && counts.todo === 0) return true;
  console.error(`Every test must run: ${JSON.stringify(counts)}`);
  return false;
}

/** Runs Node with these arguments and gives its exit code; a signal to stop goes on to it, and this process outlives it. */
export function runNode(argv: readonly string[], variables: Readonly<Record<string, string>> = {}): Promise<number> {
  const child = spawn(process.execPath, argv, { cwd: root, stdio: "inherit", env: { ...environment(), ...variables } });
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, forward);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => {
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, forward);
      resolve(code ?? 1);
    });
  });
}

/** Describes where the time of a run went: the slowest files, and all of them together. */
async function slowestFiles(timesFile: string, count = 30): Promise<string> {
  const lines = (await readFile(timesFile, "utf8")).split("\n").filter((line) => line !== "");
  const times = lines.map((line): FileTimes => JSON.parse(line));
  const slowest = times.toSorted((a, b) => b.totalMs - a.totalMs).slice(0, count);
  return ["     total    set-up  processor", ...[...slowest, totalOf(times)].map(rowOf)].join("\n");
}

function totalOf(times: readonly FileTimes[]): FileTimes {
  const sum = (name: "loadMs" | "totalMs" | "cpuMs") => times.reduce((total, one) => total + one[name], 0);
  return { file: `all ${times.length} files`, loadMs: sum("loadMs"), totalMs: sum("totalMs"), cpuMs: sum("cpuMs") };
}

function rowOf({ file, totalMs, loadMs, cpuMs }: FileTimes): string {
  return `${[totalMs, loadMs, cpuMs].map((ms) => `${(ms / 1000).toFixed(1)} s`.padStart(10)).join("")}  ${file}`;
}

/** Runs `work` while these shared engines run. Nothing is started when the environment names engines of somebody else. */
export const withEngines = <T>(names: readonly EngineName[], work: () => Promise<T>): Promise<T> =>
  environment().TEST_ENGINES_FILE ? work() : withSharedEngines(names, work);
