/**
 * `npm run ledger -- --mode embedded|engines --rounds N --seed N` plays rounds of writes under faults and judges them;
 * the same seed plays the same faults. A failed round keeps its history and logs, and the next one starts on a new
 * system. Each round is added to docs/reference/reliability-rounds.jsonl, or to the file of `--results`, and at the end
 * the page of the figures is rewritten. `--fault <part of a name>` plays that fault alone and `--short` omits the long
 * ones: such rounds are a selection and are added only with `--results`. The faults of machines are played only so, or all in
 * turn with `--machines`, and are added to docs/reference/reliability-machine-rounds.jsonl. `--keep` keeps
 * history and logs of correct rounds too.
 */
import { parseArgs } from "node:util";
import { type CourseOptions, describeBroken, runCourse } from "./course.ts";
import { machineFaults } from "./faults/machine-faults.ts";
import type { RoundFigures } from "./report/figures.ts";
import { writeReliability } from "./report/reliability-page.ts";
import { appendResult, machineRoundsFile, provenance, roundsFile } from "./report/results.ts";
import type { Mode } from "./systems/ledger-system.ts";

const { values } = parseArgs({
  options: {
    mode: { type: "string", default: "embedded" },
    rounds: { type: "string", default: "20" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1e6)) },
    fault: { type: "string" },
    short: { type: "boolean", default: false },
    machines: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
    results: { type: "string" },
  },
});
const modes: readonly string[] = ["embedded", "engines"] satisfies Mode[];
if (!modes.includes(values.mode)) throw new Error(`--mode is one of: ${modes.join(", ")}`);
const print = (line: string) => void process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
const [mode, seed, rounds] = [values.mode as Mode, Number(values.seed), Number(values.rounds)];
const isEveryFault = values.fault === undefined && !values.short && !values.machines;
const isOfMachines =
  values.machines || machineFaults.some(({ name }) => values.fault !== undefined && name.includes(values.fault));
const results = values.results ?? (isEveryFault ? roundsFile : isOfMachines ? machineRoundsFile : null);
const common = await provenance(mode, seed);
const options: CourseOptions = {
  mode,
  seed,
  rounds,
  short: values.short,
  only: values.fault,
  machines: values.machines,
  keepAll: values.keep,
  print,
  record: async (round) => void (results !== null && (await appendResult(results, { ...common, ...round }))),
  isOver: () => isOver,
};

let isOver = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    if (isOver) process.exit(130);
    isOver = true;
    print("ends after this round; a second signal ends at once and leaves engines behind");
  });
}

print(`mode ${mode}, ${rounds} rounds, seed ${seed}, commit ${common.commit}`);
const played: RoundFigures[] = [];
while (played.length < rounds && !isOver) {
  const result = await runCourse({ ...options, after: played.length });
  played.push(...result.figures);
  if (result.broken.length > 0) print(describeBroken(result));
  else if (result.folder !== null) print(`history and logs are in ${result.folder}`);
}
const violations = played.reduce((sum, round) => sum + round.violations, 0);
print(`${played.length} rounds, ${violations} violations`);
if (results === roundsFile || results === machineRoundsFile) await writeReliability();
process.exitCode = violations > 0 ? 1 : 0;
