/**
 * `npm run aborts -- --minutes 10 --seed N` leaves every operation and every stream of a new system at random bytes,
 * round after round, and prints what stays. `--target <part of a name>` and `--way <part of a name>` choose.
 */
import { parseArgs } from "node:util";
import { runCourse } from "./course.ts";
import { openAbortScene } from "./scene.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: String(Date.now()) },
    target: { type: "string" },
    way: { type: "string" },
  },
});
const print = (line: string) => void process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
await using opened = new AsyncDisposableStack();
const scene = await openAbortScene(opened);
const endsAt = performance.now() + Number(values.minutes) * 60_000;
print(`seed ${values.seed}`);
await runCourse(scene, { ...values, isOver: () => performance.now() > endsAt, print });
