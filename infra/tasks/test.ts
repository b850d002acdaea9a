/**
 * `npm test`: the checks, then every test that needs Node and npm alone.
 * `npm test -- libs/events`, `-- services/images int`, `-- path/to/one.engines.test.ts`: a part, without the checks.
 * `--slowest` shows where the time went; options of node's runner (`--watch`, `--test-name-pattern=<words>`) go on to it.
 */
import { runNode, runTests, withEngines } from "./tests/run-tests.ts";
import { parseTestArguments, selectTests, type Tier, tierOf } from "./tests/tiers.ts";

const { words, slowest, runnerOptions } = parseTestArguments(process.argv.slice(2));
const isWhole = words.length === 0 && runnerOptions.length === 0;
const files = selectTests(words);

process.exitCode = await main();

async function main(): Promise<number> {
  if (files.length === 0) {
    console.error(`No test file matches: ${words.join(" ")}`);
    return 1;
  }
  const startedMs = performance.now();
  const checksPass = !isWhole || (await runNode(["infra/tasks/check.ts"])) === 0;
  const isWithPostgres = files.some((file) => tierOf(file) !== ("unit" satisfies Tier));
  const run = () => runTests(files, { runnerOptions, slowest });
  const testsPass = await (isWithPostgres ? withEngines(["postgres"], run) : run());
  if (isWhole) console.log(`${((performance.now() - startedMs) / 60_000).toFixed(1)} minutes`);
  return checksPass && testsPass ? 0 : 1;
}
