import type { Random } from "../random.ts";
import type { Mode } from "../systems/ledger-system.ts";
import { databaseFaults } from "./database-faults.ts";
import { engineFaults } from "./engine-faults.ts";
import type { Fault } from "./fault.ts";
import { processFaults } from "./killed-processes.ts";
import { machineFaults } from "./machine-faults.ts";
import { topicFaults } from "./topic-faults.ts";

/** All faults of the ledger. */
const faults: readonly Fault[] = [...processFaults, ...databaseFaults, ...engineFaults, ...topicFaults];

/** Those that are chosen by their name, too. */
export const namedFaults: readonly Fault[] = [...faults, ...machineFaults];

/** Chooses the faults of the rounds: each suitable one equally often, in an order of the seed. */
export function chooseFaults(mode: Mode, rounds: number, random: Random, { short }: { short: boolean }): Fault[] {
  const fitting = faults.filter(({ modes, isLong }) => modes.includes(mode) && !(short && isLong));
  const chosen: Fault[] = [];
  while (chosen.length < rounds) chosen.push(...shuffled(fitting, random));
  return chosen.slice(0, rounds);
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
