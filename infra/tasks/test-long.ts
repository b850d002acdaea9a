/**
 * `npm run test:long`: rounds of the ledger, storms, containers, upgrades, fuzzing. One line a part; a part that passed at
 * this commit is left out when the command is given again, so a run that was stopped goes on where it was.
 * `-- --again` begins anew, `-- --list` only lists the parts, `-- <words>` runs the parts whose names contain them.
 */
import { execFileSync, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { pipeline } from "node:stream/promises";
import { environment } from "@signalbox/runtime";
import { root } from "../generate/repository.ts";
import { parseTestArguments, selectTests } from "./tests/tiers.ts";

/** One part of the long tier: a script with its arguments, and a name to run it alone by. */
interface LongPart {
  readonly name: string;
  readonly command: readonly string[];
  /** Added to the environment. */
  readonly variables?: Readonly<Record<string, string>>;
}

const containers = ["compose", "options", "small", "kubernetes"].map(
  (name): LongPart => ({ name: `containers ${name}`, command: ["test-e2e/containers/run.ts", name] }),
);

/** Tests of the default tier with more cases than a run of it has time for. */
const fuzzing: readonly LongPart[] = [
  ["images", "services/images/test/mutations.int.test.ts", { IMAGE_MUTATIONS: "2000" }] as const,
  ["federation", "libs/federation/test/same-as-merged.test.ts", { FEDERATION_RUNS: "1112" }] as const,
].map(([name, file, variables]) => ({ name: `fuzzing ${name}`, command: ["infra/tasks/test.ts", file], variables }));

/** Every part of the long tier, the shortest kind first. */
function longParts(): LongPart[] {
  const files = selectTests([], ["long"]);
  return [
    ...files.map((file): LongPart => ({ name: file, command: ["infra/tasks/test.ts", file] })),
    ...fuzzing,
    { name: "attacks embedded", command: ["test-e2e/attacks/main.ts", "--mode", "embedded"] },
    { name: "aborts", command: ["test-e2e/aborts/run.ts", "--minutes", "10"] },
    { name: "ledger embedded", command: ["test-e2e/ledger/run.ts", "--mode", "embedded", "--rounds", "20"] },
    { name: "ledger engines", command: ["test-e2e/ledger/run.ts", "--mode", "engines", "--rounds", "5"] },
    ...["embedded", "engines"].map((mode) => ({
      name: `ledger machines ${mode}`,
      command: ["test-e2e/ledger/run.ts", "--mode", mode, "--machines", "--rounds", "8"],
    })),
    { name: "incidents", command: ["test-e2e/incidents/run.ts"] },
    // The version beside itself: `npm run upgrade-drill -- <commit>` rolls from another one.
    { name: "upgrade drill", command: ["test-e2e/rolling/upgrade-drill.ts", "HEAD"] },
    ...containers,
  ];
}

/** Holds the progress and the output of each part. */
const longFolder = join(root, ".engines", "long");
const progressFile = join(longFolder, "progress.json");

const { words, runnerOptions: options } = parseTestArguments(process.argv.slice(2));
const parts = longParts().filter(({ name }) => words.every((word) => name.includes(word)));
let progress = await readLongProgress();
if (options.includes("--again")) progress = { ...progress, passed: {} };

if (parts.length === 0) {
  console.error(`No part of this tier matches: ${words.join(" ")}`);
  process.exitCode = 1;
} else if (options.includes("--list")) {
  for (const { name } of parts) console.log(`${progress.passed[name] ? "passed " : "       "} ${name}`);
} else process.exitCode = (await runParts()) ? 0 : 1;

async function runParts(): Promise<boolean> {
  await mkdir(longFolder, { recursive: true });
  let failures = 0;
  for (const part of parts) {
    const before = progress.passed[part.name];
    if (before) {
      printLine("before", before.seconds, part.name);
      continue;
    }
    const startedMs = performance.now();
    const log = join(longFolder, `${part.name.replaceAll(/[^a-z0-9]+/gi, "-")}.log`);
    const passed = await runPart(part, log);
    const seconds = (performance.now() - startedMs) / 1000;
    printLine(passed ? "ok" : "FAILED", seconds, passed ? part.name : `${part.name}: ${relative(root, log)}`);
    if (!passed) failures++;
    else progress = { ...progress, passed: { ...progress.passed, [part.name]: { seconds } } };
    await writeLongProgress(progress);
  }
  console.log(`${parts.length - failures} passed, ${failures} failed`);
  return failures === 0;
}

/** Runs a part with its output in a file. */
async function runPart({ command, variables }: LongPart, log: string): Promise<boolean> {
  const child = spawn(process.execPath, command, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...environment(), ...variables },
  });
  const stop = (signal: NodeJS.Signals) => child.kill(signal);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
  const output = createWriteStream(log);
  child.stderr.pipe(output, { end: false });
  await pipeline(child.stdout, output);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stop);
  return (await ended) === 0;
}

function printLine(outcome: string, seconds: number, name: string): void {
  console.log(`${outcome.padEnd(6)} ${seconds.toFixed(1).padStart(8)} s  ${name}`);
}

/** The parts of the long tier that passed at one commit. Another commit begins anew. */
interface LongProgress {
  readonly commit: string;
  readonly passed: Readonly<Record<string, { readonly seconds: number }>>;
}

/** Reads how far the long tier has come at this commit; a change that is not committed counts as another commit. */
async function readLongProgress(): Promise<LongProgress> {
  const commit = currentCommit();
  try {
    const kept: LongProgress = JSON.parse(await readFile(progressFile, "utf8"));
    if (kept.commit === commit) return kept;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  return { commit, passed: {} };
}

async function writeLongProgress(progress: LongProgress): Promise<void> {
  await writeFile(progressFile, JSON.stringify(progress, null, 2));
}

function currentCommit(): string {
  const git = (...argv: string[]) => execFileSync("git", argv, { cwd: root, encoding: "utf8" }).trim();
  const isChanged = git("status", "--porcelain") !== "";
  return git("rev-parse", "HEAD") + (isChanged ? " and changes" : "");
}
