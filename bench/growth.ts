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
    figures: measured.flatMap(({ name, wantedTimes, unit, few, many }) =>
      Object.entries(few).map(([what, small]) => {
        const times = Math.round(((many[what] ?? Number.NaN) / small) * 100) / 100;
        const [cost, share] = what.split(", ");
        return most(
          `${share ?? "cost"} with many, times with few: ${cost}, ${name}`,
          wantedTimes,
          times,
          "",
          `${small} ${unit}`,
        );
      }),
    ),
  };
}

const rowsOf = ({ name, unit, few, many }: Grown) =>
  Object.entries(few).map(([cost, small]) => ({ what: name, cost, unit, few: small, many: many[cost] }));
