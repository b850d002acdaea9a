import { measureCosts } from "../test-e2e/costs/measure-costs.ts";
import { type BenchResult, most } from "./history.ts";

/** Each operation alone, so that nothing shares a commit: under load a call costs less. */
export async function run(): Promise<BenchResult> {
  const costs = await measureCosts();
  return {
    rows: costs.map(({ operation, roundTrips, walKiB, statements }) => ({
      operation: operation.name,
      roundTrips,
      walKiB,
      statements: statements.length,
    })),
    figures: costs.map(({ operation, roundTrips, walKiB, statements }) =>
      most(
        operation.name,
        operation.roundTripsMax,
        roundTrips,
        "round trips",
        [`${walKiB} KiB of WAL`, ...statements].join("; "),
      ),
    ),
  };
}
