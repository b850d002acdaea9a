/**
 * `npm run ledger -- --mode embedded|engines --rounds N --seed N` plays rounds of writes under faults and judges them; the same seed
 * plays the same faults. A round that is wrong keeps its history and logs, and the next one begins on a new system. Ends by
 * writing the figures into docs/reference/reliability.md; with `--fault <part of a name>` only that fault is played and nothing
 * is written. `--short` leaves out what `npm test` has no time for.
 */
import { parseArgs } from "node:util";
import { type CourseOptions, describeBroken, runCourse } from "./course.ts";
import type { RoundFigures } from "./report/figures.ts";
import { writeReliability } from "./report/reliability-page.ts";
import type { Mode } from "./systems/ledger-system.ts";

const { values } = parseArgs({
  options: {
    mode: { type: "string", default: "embedded" },
    rounds: { type: "string", default: "20" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1e6)) },
    fault: { type: "string" },
    short: { type: "boolean", default: false },
  },
});
const modes: readonly string[] = ["embedded", "engines"] satisfies Mode[];
if (!modes.includes(values.mode)) throw new Error(`--mode is one of: ${modes.join(", ")}`);
const tell = (line: string) => void process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
const [mode, seed, rounds] = [values.mode as Mode, Number(values.seed), Number(values.rounds)];
const options: CourseOptions = {
  mode,
  seed,
  rounds,
  short: values.short,
  only: values.fault,
  tell,
  isOver: () => isOver,
};

let isOver = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    if (isOver) process.exit(130);
    isOver = true;
    tell("ends after this round; a second signal ends at once and leaves engines behind");
  });
}

tell(`mode ${mode}, ${rounds} rounds, seed ${seed}`);
const figures: RoundFigures[] = [];
while (figures.length < rounds && !isOver) {
  const result = await runCourse({ ...options, after: figures.length });
  figures.push(...result.figures);
  if (result.broken.length > 0) tell(describeBroken(result));
}
const violations = figures.reduce((sum, round) => sum + round.violations, 0);
tell(`${figures.length} rounds, ${violations} violations`);
if (values.fault === undefined) await writeReliability({ mode, seed, figures });
process.exitCode = violations > 0 ? 1 : 0;
