/**
 * `npm run test:long`: rounds of the ledger, storms, containers, upgrades, fuzzing. One line a part; a part that passed at
 * this commit is left out when the command is given again, so a run that was stopped goes on where it was.
 * `-- --again` begins anew, `-- --list` only lists the parts, `-- <words>` runs the parts whose names contain them.
 */
import { execFileSync } from "node:child_process";
import { mkdir, open, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { readJson } from "../engines/durable-file.ts";
import { root } from "../generate/repository.ts";
import { runNode } from "./tests/run-tests.ts";
import { parseTestArguments, selectTests } from "./tests/tiers.ts";

/** One part of the long tier: a script with its arguments, and a name to run it alone by. */
interface LongPart {
  readonly name: string;
  readonly command: readonly string[];
  /** Added to the environment. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Every part of the long tier, the shortest kind first. */
const longParts: readonly LongPart[] = [
  ...selectTests([], ["long"]).map((file) => ({ name: file, command: ["infra/tasks/test.ts", file] })),
  // Tests of the default tier with more cases than a run of it has time for.
  {
    name: "fuzzing images",
    command: ["infra/tasks/test.ts", "services/images/test/mutations.int.test.ts"],
    variables: { IMAGE_MUTATIONS: "2000" },
  },
  {
    name: "fuzzing federation",
    command: ["infra/tasks/test.ts", "libs/federation/test/same-as-merged.test.ts"],
    variables: { FEDERATION_RUNS: "1112" },
  },
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
  ...["compose", "options", "small", "kubernetes"].map((name) => ({
    name: `containers ${name}`,
    command: ["test-e2e/containers/run.ts", name],
  })),
];

/** Holds the progress and the output of each part. */
const longFolder = join(root, ".engines", "long");
const progressFile = join(longFolder, "progress.json");

const { words, runnerOptions: options } = parseTestArguments(process.argv.slice(2));
const parts = longParts.filter(({ name }) => words.every((word) => name.includes(word)));
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
    await writeFile(progressFile, JSON.stringify(progress, null, 2));
  }
  console.log(`${parts.length - failures} passed, ${failures} failed`);
  return failures === 0;
}

/** Runs a part with its output in a file. */
async function runPart({ command, variables }: LongPart, log: string): Promise<boolean> {
  await using output = await open(log, "w");
  return (await runNode(command, variables, output.fd)) === 0;
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
  const kept = await readJson<LongProgress>(progressFile);
  return kept?.commit === commit ? kept : { commit, passed: {} };
}

function currentCommit(): string {
  const git = (...argv: string[]) => execFileSync("git", argv, { cwd: root, encoding: "utf8" }).trim();
  const isChanged = git("status", "--porcelain") !== "";
  return git("rev-parse", "HEAD") + (isChanged ? " and changes" : "");
}
