import { measureCosts } from "../test-e2e/costs/measure-costs.ts";
import { type BenchResult, most } from "./history.ts";

/**
 * Each operation alone, so that nothing shares a commit: under load a call costs less. Reads that may send nothing are
 * left to the test.
 */
export async function run(): Promise<BenchResult> {
  const costs = await measureCosts();
  return {
    rows: costs.map(({ operation, roundTrips, walKiB, statements }) => ({
      operation: operation.name,
      roundTrips,
      walKiB,
      statements: statements.length,
    })),
    figures: costs
      .filter(({ operation }) => operation.roundTripsMax > 0)
      .map(({ operation, roundTrips, walKiB, statements }) => {
        const sent = [`${walKiB} KiB of WAL`, ...statements].join("; ");
        return most(operation.name, operation.roundTripsMax, roundTrips, "round trips", sent);
      }),
  };
}
