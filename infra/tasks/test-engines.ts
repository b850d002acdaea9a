/**
 * `npm run test:engines`: the tests on real engines, in browsers and in other languages. Says what the machine lacks before
 * anything runs. `-- libs/events` runs a part of them; `--slowest` and options of node's runner as for `npm test`.
 */
import { describeMissing, examine, tableOf } from "../engines/doctor.ts";
import { fetchEngines } from "../engines/engines.ts";
import { sharedEngines } from "../engines/index.ts";
import { sourceFiles } from "./source-files.ts";
import { runNode, runTests, withEngines } from "./tests/run-tests.ts";
import { parseTestArguments, selectTests } from "./tests/tiers.ts";

const { words, slowest, runnerOptions } = parseTestArguments(process.argv.slice(2));
const files = selectTests(sourceFiles("*.test.ts"), words, ["engines"]);

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
  const composePasses = words.length > 0 || (await runNode(["infra/tasks/check-compose.ts"])) === 0;
  // Whole systems have the machine for themselves: they hold promises about waiting, and each has fourteen processes.
  const isSystem = (file: string) => file.startsWith("test-e2e/");
  const run = async () => {
    const parts = files.filter((file) => !isSystem(file));
    const systems = files.filter(isSystem);
    const partsPass = parts.length === 0 || (await runTests(parts, { runnerOptions, slowest, atOnce: 2 }));
    return (systems.length === 0 || (await runTests(systems, { runnerOptions, slowest, atOnce: 1 }))) && partsPass;
  };
  const testsPass = await withEngines(
    sharedEngines.map(({ name }) => name),
    run,
  );
  console.log(`${((performance.now() - startedMs) / 60_000).toFixed(1)} minutes`);
  return composePasses && testsPass ? 0 : 1;
}
