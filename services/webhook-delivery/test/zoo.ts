import assert from "node:assert/strict";
import type { TestPerson } from "@signalbox/testing";
import { endpointsPath, type Harness } from "./harness.ts";

/** Expected status, or error with its phase, and the number of connections of two attempts. */
type Expected = readonly [outcome: string, connections: number];

/** Behaviour of a receiver, and the expected outcome of two attempts at it. */
export type Row<Animal> = readonly [name: string, animal: Animal, expected: Expected];

interface Cage {
  readonly url: string;
  connections(): number;
  close(): void;
}

/** Statuses that a receiver answers without a body. */
export const plainStatuses: readonly string[] = [
  ...["200", "201", "202", "203", "205", "206", "226", "299"],
  ...["300", "301", "302", "303", "304", "307", "308"],
  ...["400", "401", "402", "403", "404", "405", "409", "410", "413", "415", "418", "422", "425", "429", "451"],
  ...["500", "501", "502", "503", "504", "511", "599"],
];

/** Attempts a delivery at each receiver twice, one after the other, and compares the outcomes with the rows. */
export async function visitZoo<Animal>(
  delivery: Harness,
  who: TestPerson,
  rows: readonly Row<Animal>[],
  keep: (animal: Animal) => Promise<Cage>,
): Promise<void> {
  using cages = new DisposableStack();
  const kept: { readonly name: string; readonly id: string; readonly cage: Cage }[] = [];
  // One after the other, because they are counted under a lock.
  for (const [name, animal] of rows) {
    const cage = await keep(animal);
    cages.defer(() => cage.close());
    const { id } = await delivery.newEndpoint(who, { url: cage.url, settings: { timeout_seconds: 3 } });
    kept.push({ name, id, cage });
  }
  const found = await Promise.all(
    kept.map(async ({ name, id, cage }) => {
      const outcomes = new Set<string>();
      for (let count = 0; count < 2; count++) {
        const { body } = await delivery.send(who, "POST", `${endpointsPath}/${id}/test`);
        outcomes.add(body.status === null ? `${body.error} ${body.phase}` : String(body.status));
      }
      return [name, [[...outcomes].join(" or "), cage.connections()]];
    }),
  );
  assert.deepEqual(
    found,
    rows.map(([name, , expected]) => [name, expected]),
  );
}
