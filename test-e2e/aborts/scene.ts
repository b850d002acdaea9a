import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@signalbox/testing";
import { type Operation, operationsOf } from "../attacks/groups/operations.ts";
import type { Owner } from "../attacks/groups/owned-things.ts";
import { openTrustingScene, type TrustingScene } from "../attacks/scene/trusting-scene.ts";
import { graph } from "../audit/recipes/attempt.ts";
import { type EmbeddedSystem, startEmbeddedIn } from "../systems/embedded-system.ts";
import { readState, type State, type Watched } from "./state.ts";
import { cursorOf } from "./subscribing.ts";

/** A system in one process, whose clients leave. */
export interface AbortScene extends TrustingScene, Watched {
  readonly system: TrustingScene["system"];
  readonly owner: Owner;
  readonly reads: readonly Operation[];
  /** Cursors of subscriptions that have missed more than a client is sent at once. */
  readonly cursors: Readonly<Record<"accountChanged" | "configChanged", string>>;
  /** What is open without clients. */
  readonly atStart: State;
}

/** More than a stream queues for its client: a resumed one waits for room. */
const missedMin = 40;

/** Starts the system with an owner of one of everything, who has missed changes. */
export async function openAbortScene(opened: AsyncDisposableStack): Promise<AbortScene> {
  const staging = await mkdtemp(join(tmpdir(), "signalbox-aborts-"));
  opened.defer(() => rm(staging, { recursive: true, force: true }));
  const started: { process?: EmbeddedSystem["process"] } = {};
  const scene = await openTrustingScene(opened, async (properties) => {
    const all = { ...properties, ...withoutLimits, "images.upload.directory": staging };
    const system = await startEmbeddedIn(opened, all);
    started.process = system.process;
    return { ...system, output: () => system.process.stdout + system.process.stderr };
  });
  const process = started.process as EmbeddedSystem["process"];
  const { operations: reads, owner } = await operationsOf(scene, () => false);
  const { baseUrl } = scene.system;
  const cursors = {
    accountChanged: await cursorOf(baseUrl, owner.headers, "accountChanged"),
    configChanged: await cursorOf(baseUrl, {}, "configChanged"),
  };
  // The first poll opens the session that listens for all later ones.
  await scene.world.send(owner.headers, `/api/v1/webhooks/endpoints/${owner.things.pullEndpoint}/messages`);
  for (let nth = 0; nth < missedMin; nth++) await makeChanges({ ...scene, owner });
  const opening = { ...scene, process, progress: process.stderr, staging, owner, reads, cursors };
  return { ...opening, atStart: await quietState(opening) };
}

/** Reads the state until it has been the same for a while: a start goes on in the background. */
async function quietState(scene: Watched): Promise<State> {
  let last = "";
  let sameSince = performance.now();
  return eventually(
    async () => {
      const state = await readState(scene);
      if (JSON.stringify(state) !== last) [last, sameSince] = [JSON.stringify(state), performance.now()];
      return performance.now() - sameSince > quietMs && state;
    },
    { timeoutMs: 60_000, message: "the system is quiet" },
  );
}

const quietMs = 1_000;
const withoutLimits = {
  "log.level": "warn",
  "account.api-keys.max": "10000",
  "account.clients.max": "10000",
  "account.invitations.max": "10000",
  "graphql.limits.cost-window": "1000000",
  "config.streams.max-per-credential": "1000",
};

/** A property that everybody sees, whose limit no image here reaches. */
const property = "limits.maxImageSide";
let changes = 0;

/** Changes the account and a published property, and publishes a message for the pull endpoint. */
export async function makeChanges({
  world,
  owner,
  administrator,
}: Pick<AbortScene, "world" | "owner" | "administrator">): Promise<void> {
  const nth = ++changes;
  await world.send(owner.headers, "/api/account/", { method: "PATCH", body: { display_name: `Changed ${nth}` } });
  await world.send(owner.headers, "/api/v1/webhooks/events", { body: [{ type: "order.created", data: { nth } }] });
  const query = "{ properties { name override { revision } } }";
  const { properties } = (await world.send(administrator, "/graphql", { body: { query } })).json.data;
  const found = properties.find(({ name }: { name: string }) => name === property);
  const expectedRevision = found?.override?.revision ?? "0";
  const input = { name: property, value: 20_000 + (nth % 1_000), expectedRevision };
  const { by, path, request } = graph(administrator, "setProperty", input);
  // Another change may be in progress.
  await world.tryTo(by, path, request);
}
