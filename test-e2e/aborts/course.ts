import assert from "node:assert/strict";
import { eventually } from "@signalbox/testing";
import { inLanes } from "../attacks/runner/run-attacks.ts";
import { createRandom, type Random } from "../ledger/random.ts";
import { expectNothingLeft, expectRunning } from "./nothing-left.ts";
import { type AbortScene, makeChanges } from "./scene.ts";
import { socketVisit } from "./sockets.ts";
import { targetsOf } from "./targets.ts";
import { makeVisit } from "./visit.ts";
import { ways } from "./ways.ts";
import { type Target, wireRequest } from "./wire.ts";

interface Course {
  readonly seed: string;
  /** Asked after each round. */
  readonly isOver: () => boolean;
  readonly print: (line: string) => void;
  /** Parts of the names of targets and ways; all when empty. */
  readonly target?: string;
  readonly way?: string;
}

const lanes = 8;
/** As many as there are operations with a body. */
const socketsPerRound = 150;
const socketsName = "a socket";

/** Leaves each operation and each stream in one of the ways, and all again until it is over. */
export async function runCourse(scene: AbortScene, course: Course): Promise<void> {
  const { seed, isOver, print } = course;
  const sockets = Array.from({ length: socketsPerRound }, (_, nth) => ({ name: `${socketsName} ${nth}` }));
  const named = [...(await targetsOf(scene)), ...sockets].filter(({ name }) => name.includes(course.target ?? ""));
  assert.ok(named.length > 0, `nothing is named ${course.target}`);
  for (let round = 1; round === 1 || !isOver(); round++) {
    const random = createRandom(`${seed}/${round}`);
    const ended = new AbortController();
    const leaving = inLanes(shuffled(named, random), lanes, (one) =>
      "make" in one
        ? leave(scene, one, random.fork(one.name), course.way)
        : makeVisit(scene.system.baseUrl, socketVisit(scene, random.fork(one.name))),
    );
    const changing = keepChanging(scene, ended.signal);
    await Promise.all([leaving.finally(() => ended.abort()), changing]).catch((error: Error) => {
      // The end of the process is the finding, and not the requests that it refuses afterwards.
      expectRunning(scene);
      throw error;
    });
    await expectNothingLeft(scene);
    print(`round ${round}: ${named.length} clients left, and nothing stayed`);
  }
}

/** Makes one request, mostly with its own credentials, and leaves it. */
async function leave(scene: AbortScene, target: Target, random: Random, only = ""): Promise<void> {
  // A client that left may still hold what all share, such as the lock of the configuration.
  const attempt = await eventually(() => target.make(), { message: `${target.name} is ready` });
  const way = random.pick(ways.filter(({ name }) => name.includes(only)));
  const by = random.pick([attempt.by, attempt.by, attempt.by, attempt.by, {}, { "x-api-key": "sbx_dev_none" }]);
  const claim =
    attempt.request.body !== undefined && random.next() < 0.5 ? [`Idempotency-Key: ${crypto.randomUUID()}`] : [];
  const request = await wireRequest({ ...attempt, by }, claim);
  await makeVisit(scene.system.baseUrl, way.visit(request, random));
}

/** Makes changes as long as clients come and go, so that streams have something to send. */
async function keepChanging(scene: AbortScene, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await makeChanges(scene);
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const placed = items.map((item) => ({ item, at: random.next() }));
  return placed.sort((one, other) => one.at - other.at).map(({ item }) => item);
}
