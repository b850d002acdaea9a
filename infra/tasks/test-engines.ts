/**
 * `npm run test:engines`: the tests on real engines, in browsers and in other languages. Says what the machine lacks before
 * anything runs. `-- libs/events` runs a part of them; `--slowest` and options of node's runner as for `npm test`.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describeMissing, examine, tableOf } from "../engines/doctor.ts";
import { fetchEngines, sharedEngines } from "../engines/engines.ts";
import { root } from "../generate/repository.ts";
import { runTests, withEngines } from "./tests/run-tests.ts";
import { parseTestArguments, selectTests } from "./tests/tiers.ts";

/** A test that needs every core says so at the top of its file, with the reason. */
const wholeMachine = /^\/\/ Whole machine: /m;

const { words, slowest, runnerOptions } = parseTestArguments(process.argv.slice(2));
const files = selectTests(words, ["engines"]);

process.exitCode = await main();

async function main(): Promise<number> {
  if (files.length === 0) {
    console.error(`No test of this tier matches: ${words.join(" ")}`);
    return 1;
  }
  const findings = await examine();
  const missing = await describeMissing(findings);
  if (missing !== "") {
    console.error(`${tableOf(findings)}\n\nNothing was run. Install what is missing:\n${missing}`);
    return 1;
  }
  const startedMs = performance.now();
  await fetchEngines(console.log);
  // A system of fourteen processes has the machine for itself: its clients wait for answers, and would give up.
  const isAlone = async (file: string) => wholeMachine.test(await readFile(join(root, file), "utf8"));
  const run = async () => {
    const alone = await Promise.all(files.map(async (file) => ({ file, isAlone: await isAlone(file) })));
    let passed = true;
    for (const atOnce of [3, 1]) {
      const part = alone.filter((one) => one.isAlone === (atOnce === 1)).map(({ file }) => file);
      if (part.length > 0) passed = (await runTests(part, { runnerOptions, slowest, atOnce })) && passed;
    }
    return passed;
  };
  const names = sharedEngines.map(({ name }) => name);
  const testsPass = await withEngines(names, run);
  console.log(`${((performance.now() - startedMs) / 60_000).toFixed(1)} minutes`);
  return testsPass ? 0 : 1;
}
