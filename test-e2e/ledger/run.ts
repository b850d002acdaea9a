/**
 * `npm run ledger -- --mode embedded|engines --rounds N --seed N` plays rounds of writes under faults, judges them and
 * prints a table; the same seed plays the same faults. A failed round keeps its history and logs, and the next one starts
 * on a new system. `--fault <part of a name>` plays that fault alone and `--short` omits the long ones. The faults of
 * machines are played only so, or all in turn with `--machines`. `--keep` keeps history and logs of correct rounds too.
 */
import { parseArgs } from "node:util";
import { type CourseOptions, describeBroken, runCourse } from "./course.ts";
import type { RoundFigures } from "./round-figures.ts";
import { roundsTable } from "./rounds-table.ts";
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
  },
});
const modes: readonly string[] = ["embedded", "engines"] satisfies Mode[];
if (!modes.includes(values.mode)) throw new Error(`--mode is one of: ${modes.join(", ")}`);
const print = (line: string) => void process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
const [mode, seed, rounds] = [values.mode as Mode, Number(values.seed), Number(values.rounds)];
const options: CourseOptions = {
  mode,
  seed,
  rounds,
  short: values.short,
  only: values.fault,
  machines: values.machines,
  keepAll: values.keep,
  print,
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

print(`mode ${mode}, ${rounds} rounds, seed ${seed}`);
const played: RoundFigures[] = [];
while (played.length < rounds && !isOver) {
  const result = await runCourse({ ...options, after: played.length });
  played.push(...result.figures);
  if (result.broken.length > 0) print(describeBroken(result));
  else if (result.folder !== null) print(`history and logs are in ${result.folder}`);
}
const violations = played.reduce((sum, round) => sum + round.violations, 0);
process.stdout.write(`${roundsTable(played)}\n`);
print(`${played.length} rounds, ${violations} violations`);
process.exitCode = violations > 0 ? 1 : 0;
