import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { environment } from "@signalbox/runtime";
import type { EngineName } from "../../engines/engine.ts";
import { withSharedEngines } from "../../engines/shared-engines.ts";
import { root } from "../../generate/repository.ts";
import { bundlesOf, writeBundles } from "./bundles.ts";

/** Processes at once, on two cores: tests wait for sockets, timers and PostgreSQL for three quarters of their time. */
const processesAtOnce = 6;
/** Longer than the slowest test of the default tiers on a busy machine; without it a test that hangs would hold the run. */
const testTimeoutMs = 10 * 60_000;
/** Bundles live inside the repository: what they import is resolved from there. */
const bundlesFolder = join(root, "node_modules", ".cache", "signalbox", "tests");

interface RunOptions {
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
      "--test-reporter=./infra/tasks/tests/file-reporter.ts",
      "--test-reporter-destination=stdout",
      ...runnerOptions,
      ...scripts,
    ];
    // Naming tests leaves the others out on purpose.
    const reported = {
      ...(runnerOptions.length === 0 && { TEST_EVERY: "yes" }),
      ...(slowest && { TEST_SLOWEST: "yes" }),
    };
    return (await runNode(argv, reported)) === 0;
  } finally {
    await rm(bundles, { recursive: true, force: true });
  }
}

/**
 * Runs Node with these arguments and gives its exit code; a signal to stop goes on to it, and this process outlives it.
 * `output` is the descriptor of a file that takes what it prints.
 */
export async function runNode(
  argv: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  output: number | "inherit" = "inherit",
): Promise<number> {
  const env = { ...environment(), ...variables };
  const child = spawn(process.execPath, argv, {
    cwd: root,
    stdio: [output === "inherit" ? output : "ignore", output, output],
    env,
  });
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, forward);
  try {
    const [code] = await once(child, "exit");
    return code ?? 1;
  } finally {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, forward);
  }
}

/** Runs `work` while these shared engines run. Nothing is started when the environment names engines of somebody else. */
export const withEngines = <T>(names: readonly EngineName[], work: () => Promise<T>): Promise<T> =>
  environment().TEST_ENGINES_FILE ? work() : withSharedEngines(names, work);

/**
 * Runs the files, and each again when it or something that it imports changes, until a signal asks to stop. The command
 * line of node's runner would watch the whole clone besides: installed packages, databases, everything that tests write.
 */
async function watchTests(files: readonly string[], runnerOptions: readonly string[]): Promise<void> {
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());
  const valuesOf = (option: string) =>
    runnerOptions.flatMap((given) => (given.startsWith(`${option}=`) ? [given.slice(option.length + 1)] : []));
  run({
    files: files.map((file) => join(root, file)),
    cwd: root,
    watch: true,
    signal: stopping.signal,
    testNamePatterns: valuesOf("--test-name-pattern"),
    testSkipPatterns: valuesOf("--test-skip-pattern"),
  })
    .compose(new spec())
    .pipe(process.stdout);
  await once(stopping.signal, "abort");
}
