import { deliveryGrowths } from "./growth-deliveries.ts";
import { growImages, growStreams } from "./growth-doors.ts";
import { processGrowths } from "./growth-processes.ts";
import type { Grown } from "./growth-waits.ts";
import { type BenchResult, most } from "./history.ts";

/** One thing after another grows to its whole size, each beside what the same waits were before. */
export async function run(): Promise<BenchResult> {
  const measured: Grown[] = [];
  for (const measure of [...processGrowths, growStreams, growImages, ...deliveryGrowths]) {
    const grown = await measure();
    console.table(rowsOf(grown));
    measured.push(grown);
  }
  return {
    rows: measured.flatMap(rowsOf),
    figures: measured.flatMap(({ name, wantedTimes, unit, kind, few, many }) =>
      Object.entries(few).map(([cost, small]) => {
        const times = Math.round(((many[cost] ?? Number.NaN) / small) * 100) / 100;
        const figure = `${kind} with many, times with few: ${cost}, ${name}`;
        return most(figure, wantedTimes, times, "", `${small} ${unit}`);
      }),
    ),
  };
}

const rowsOf = ({ name, unit, kind, few, many }: Grown) =>
  Object.entries(few).map(([cost, small]) => ({ what: name, cost, kind, unit, few: small, many: many[cost] }));
