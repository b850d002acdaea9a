/**
 * `npm run ledger -- --mode embedded|engines --rounds N --seed N` plays rounds of writes under faults and judges them; the same seed
 * plays the same faults. A round that is wrong keeps its history and logs, and the next one begins on a new system. Ends by
 * writing the figures into docs/reference/reliability.md; with `--results <file>` rounds are added to those that the file
 * holds, and the page tells of all of them. With `--fault <part of a name>` only that fault is played and the page stays as it
 * is. `--short` leaves out what `npm test` has no time for.
 */
import { parseArgs } from "node:util";
import { type CourseOptions, describeBroken, runCourse } from "./course.ts";
import { writeReliability } from "./report/reliability-page.ts";
import { appendResults, type PlayedRound, readResults } from "./report/results.ts";
import type { Mode } from "./systems/ledger-system.ts";

const { values } = parseArgs({
  options: {
    mode: { type: "string", default: "embedded" },
    rounds: { type: "string", default: "20" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1e6)) },
    fault: { type: "string" },
    short: { type: "boolean", default: false },
    results: { type: "string" },
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
const day = new Date().toISOString().slice(0, 10);
const played: PlayedRound[] = [];
while (played.length < rounds && !isOver) {
  const result = await runCourse({ ...options, after: played.length });
  const figures = result.figures.map((round): PlayedRound => ({ mode, seed, day, ...round }));
  if (values.results !== undefined) await appendResults(values.results, figures);
  played.push(...figures);
  if (result.broken.length > 0) tell(describeBroken(result));
}
const violations = played.reduce((sum, round) => sum + round.violations, 0);
tell(`${played.length} rounds, ${violations} violations`);
const kept = values.results === undefined ? played : await readResults(values.results);
const told = kept.filter((round) => round.mode === mode);
if (values.fault === undefined) await writeReliability(mode, told);
process.exitCode = violations > 0 ? 1 : 0;
