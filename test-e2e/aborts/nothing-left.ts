import assert from "node:assert/strict";
import { eventually } from "@signalbox/testing";
import type { AbortScene } from "./scene.ts";
import { faultsIn, readState, type State } from "./state.ts";

/** Longer than every lease, wait and deadline that a client leaves behind. */
const settleMs = 60_000;

/** True of what work in the background takes, too: it is back once it was seen back. */
const isShared = (name: string): boolean => /pool=|advisory locks/.test(name);

const answered = [
  "/api/account/",
  "/images",
  "/api/v1/config/",
  "/api/v1/webhooks/endpoints",
  "/api/v1/webhooks/sources",
  "/graphql?query={viewer{id}}",
];

/**
 * Expects that everything that clients had open ends, that the process has told of no fault, and that each service
 * answers.
 */
export async function expectNothingLeft(scene: AbortScene): Promise<void> {
  const { world, owner, atStart } = scene;
  const isBack = (name: string, state: State) => (state[name] ?? 0) <= (atStart[name] ?? 0);
  const usedSince = new Set<string>();
  const seenBack = new Set<string>();
  let left: readonly string[] = [];
  const isNothingLeft = async () => {
    expectRunning(scene);
    const state = await readState(scene);
    for (const name of Object.keys(state).filter(isShared)) usedSince.add(name);
    for (const name of usedSince) if (isBack(name, state)) seenBack.add(name);
    left = Object.entries(state)
      .filter(([name]) => !isBack(name, state) && !seenBack.has(name))
      .map(([name, count]) => `${name}: ${count}`);
    return left.length === 0;
  };
  await eventually(isNothingLeft, { timeoutMs: settleMs }).catch((error: Error) => {
    expectRunning(scene);
    throw new Error(`something stayed: ${left.join(", ") || error.message}`);
  });
  assert.deepEqual(faultsIn(scene), []);
  for (const path of answered) await world.send(owner.headers, path);
}

export function expectRunning({ process }: Pick<AbortScene, "process">): void {
  assert.ok(process.isRunning, `the process ended:\n${process.stdout.slice(-5_000)}${process.stderr}`);
}
