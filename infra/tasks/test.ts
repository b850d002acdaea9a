/**
 * `npm test`: checks, then every test of the repository on real engines.
 * `npm test -- libs/events int` runs the tests of a folder or of a kind only, without the checks, on the engines that they ask
 * for. Options of node's runner, such as `--watch` and `--test-name-pattern=<words>`, are handed on to it.
 */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { environment } from "@signalbox/config";
import { sharedEngineStates, startSharedEngines, stopSharedEngines } from "../engines/index.ts";
import { root } from "../generate/repository.ts";
import { sourceFiles } from "./source-files.ts";

/** Test files run at once: one more than the cores of the smallest machine, because files often wait for engines. */
const concurrency = 3;
/** Longer than the slowest crash test; without it a test that hangs would hold the whole run. */
const testTimeoutMs = 15 * 60_000;
/** With more files than this the build is broken, and not the machine busy. */
const secondTriesMax = 5;

const suffixes = { unit: /(?<!\.int|\.e2e)\.test\.ts$/, int: /\.int\.test\.ts$/, e2e: /\.e2e\.test\.ts$/ };
type Kind = keyof typeof suffixes;
const isKind = (word: string): word is Kind => word in suffixes;

const given = process.argv.slice(2);
const runnerOptions = given.filter((word) => word.startsWith("--"));
const selection = given.filter((word) => !word.startsWith("--"));
const isWhole = given.length === 0;
const files = selectTests(
  selection.filter((word) => !isKind(word)),
  selection.filter(isKind),
);

const notOurs: HeldEngines = { release: async () => {} };

process.exitCode = await main();

async function main(): Promise<number> {
  if (files.length === 0) {
    console.error(`No test file matches: ${selection.join(" ")}`);
    return 1;
  }
  if (files.every((file) => suffixes.unit.test(file))) return (await runTests()) ? 0 : 1;
  // Fetching names every engine that is absent, with the command that installs it. A part of the tests starts what it asks for.
  if (isWhole && (await run(["infra/engines/cli.ts", "fetch"])) !== 0) return 1;
  const engines = await holdEngines(console.log);
  try {
    const checksPass = !isWhole || (await runChecks());
    const testsPass = await runTests();
    return checksPass && testsPass ? 0 : 1;
  } finally {
    // Without a word: the runner's summary stays the last thing on the screen.
    await engines.release();
  }
}

interface HeldEngines {
  /** Stops the engines when they were started here; engines that ran before go on. */
  release(): Promise<void>;
}

/**
 * Sees to it that the engines of the tests run. Nothing is started when the environment names engines that somebody else
 * runs. An engine that is absent from the machine fails with the command that installs it: tests are never left out.
 */
async function holdEngines(report: (line: string) => void): Promise<HeldEngines> {
  if (environment().TEST_ENGINES_FILE) return notOurs;
  const states = await sharedEngineStates();
  if (isWhole) await startSharedEngines(report);
  // When one runs already, somebody works with them: what was missing joins those, and `npm run engines -- stop` ends all.
  if (states.some(({ state }) => state === "running")) return notOurs;
  return { release: () => stopSharedEngines(() => {}) };
}

async function runChecks(): Promise<boolean> {
  const codes = [await run(["infra/tasks/check.ts"]), await run(["infra/tasks/check-compose.ts"])];
  return codes.every((code) => code === 0);
}

function selectTests(folders: readonly string[], kinds: readonly Kind[]): string[] {
  return sourceFiles("*.test.ts").filter(
    (file) =>
      (folders.length === 0 || folders.some((folder) => file.startsWith(folder))) &&
      (kinds.length === 0 || kinds.some((kind) => suffixes[kind].test(file))),
  );
}

/**
 * Runs all files, several at once. What fails in a whole run while others want the same cores runs once more, alone: a
 * fault fails again, and what passes now is named, because it waits for time where it should wait for a condition.
 */
async function runTests(): Promise<boolean> {
  const first = await runFiles(files, concurrency);
  if (first.passed) return true;
  const failed = first.failedFiles.map((file) => relative(root, resolve(root, file)));
  if (!isWhole || failed.length === 0 || failed.length > secondTriesMax) return false;
  console.log(`\nFailed beside others, now once more alone: ${failed.join(", ")}`);
  const { passed } = await runFiles(failed, 1);
  if (passed) console.log(`\nFailed beside others and passed alone, so mend their waiting: ${failed.join(", ")}`);
  return passed;
}

/** What the reporter writes of a run. */
export interface RunReport {
  readonly counts: { readonly tests: number; readonly skipped: number; readonly todo: number };
  /** The files in which a test failed, or whose process did. */
  readonly failedFiles: readonly string[];
}

interface Outcome {
  readonly passed: boolean;
  readonly failedFiles: readonly string[];
}

/** Runs files under node's own runner, whose summary is the last thing it prints. */
async function runFiles(paths: readonly string[], atOnce: number): Promise<Outcome> {
  // Watched files have no last summary: they run until somebody stops them.
  if (runnerOptions.includes("--watch")) {
    return { passed: (await run(["--test", ...runnerOptions, ...paths])) === 0, failedFiles: [] };
  }
  const folder = await mkdtemp(join(tmpdir(), "signalbox-test-"));
  const reportFile = join(folder, "report.json");
  try {
    const code = await run([
      "--test",
      `--test-concurrency=${atOnce}`,
      `--test-timeout=${testTimeoutMs}`,
      "--test-reporter=spec",
      "--test-reporter-destination=stdout",
      "--test-reporter=./infra/tasks/count-reporter.ts",
      `--test-reporter-destination=${reportFile}`,
      ...runnerOptions,
      ...paths,
    ]);
    const report: RunReport = JSON.parse(await readFile(reportFile, "utf8"));
    // Whoever names tests leaves the others out on purpose.
    const allRan = runnerOptions.length > 0 || everyTestRan(report.counts);
    return { passed: code === 0 && allRan, failedFiles: report.failedFiles };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function everyTestRan(counts: RunReport["counts"]): boolean {
  if (counts.tests > 0 && counts.skipped === 0 && counts.todo === 0) return true;
  console.error(`Every test must run: ${JSON.stringify(counts)}`);
  return false;
}

function run(argv: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, argv, { cwd: root, stdio: "inherit" });
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  // Stopping the run must still release the engines, so this process outlives the child.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, forward);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => {
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, forward);
      resolve(code ?? 1);
    });
  });
}
