import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { MiB } from "@signalbox/core";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { eventually, freePort } from "@signalbox/testing";
import { commandsOf } from "../tour/read-page.ts";
import { createCaller } from "./caller.ts";
import { type ComposedSystem, composedSystem } from "./composed-system.ts";
import { memoryOf } from "./measure.ts";
import { linesWith, once, runbookCommands } from "./page-lines.ts";

const up = "docker compose -f compose.small.yml up --detach";
const timeout = { timeoutMs: 300_000 };
let system: ComposedSystem;
let showKey = "";

before(async () => {
  // The first line builds the image, which is there.
  const [, makeSecrets = "", ...rest] = await linesWith(up);
  showKey = rest.at(-1) ?? "";
  system = await composedSystem("compose.small.yml", await freePort());
  await system.remove();
  await system.shell(makeSecrets);
  await system.shell(up);
});
after(() => system.remove());

// Each test prepares what it needs, so that each also runs alone.
const administrator = once(async () => {
  const key = await eventually(() => system.shell(showKey), { ...timeout, message: "the first key is there" }).catch(
    async (error: unknown) => {
      throw new Error(await system.logs("signalbox"), { cause: error });
    },
  );
  return createCaller(() => system.baseUrl, key.trim());
});
const photographed = once(async () => {
  const caller = await administrator();
  const id = await eventually(() => caller.upload(), timeout);
  await eventually(() => caller.isRendered(id), timeout);
  return { caller, id };
});

test("the small deployment shows a rendered upload in the graph", async (t) => {
  const { caller, id } = await photographed();
  assert.deepEqual(await caller.query("{ viewer { images { edges { node { id status } } } } }"), {
    viewer: { images: { edges: [{ node: { id, status: "ready" } }] } },
  });
  const { resident } = await memoryOf(system.containerOf("signalbox"));
  t.diagnostic(`resident after it: ${Math.round(resident / MiB)} MiB`);
});

test("the container runs unprivileged, writing only to its volume", async () => {
  await administrator();
  assert.match(await system.exec("signalbox", ["id", "-u"]), /^1000\n$/);
  await assert.rejects(system.exec("signalbox", ["touch", "/app/file"]), /Read-only file system/);
});

test("the commands of the runbooks answer as they stand", async () => {
  await administrator();
  for (const command of await runbookCommands("small")) await system.shell(command);
});

test("the timer takes a backup that a restore has verified", async () => {
  const caller = await administrator();
  await eventually(async () => {
    const { json } = await caller.api("/api/v1/operations/backups");
    const [newest] = json.items as { verified_at: string | null; restored_at: string | null }[];
    assert.ok(newest?.verified_at && newest.restored_at, JSON.stringify(json));
  }, timeout);
});

test("after `down` and `up` the data and the key are still there", async () => {
  const { caller } = await photographed();
  await system.down();
  await system.shell(up);
  const images = () => caller.api("/images");
  await eventually(async () => (await images()).status === 200, timeout);
  assert.equal(((await images()).json.items as unknown[]).length, 1);
});

test("after the loss of its volumes the newest backup and the keys bring it back, by the lines of the page", async (t) => {
  const { caller, id } = await photographed();
  const page = await readFile(join(repositoryFolder, "docs/how-to/back-up-and-restore.md"), "utf8");
  const scripts = commandsOf("back-up-and-restore.md", page).map(({ script }) => script);
  // The name that a folder of the test gives to its volumes.
  const follow = (script = "") => system.shell(`set -e; ${script.replaceAll("signalbox-small_", "compose-small_")}`);
  const [keep, restore] = scripts.filter((script) => script.includes("compose.small.yml"));
  await system.shell("docker compose -f compose.small.yml run --rm backup backup run /backups");
  await follow(keep);
  const lostMs = performance.now();
  await follow(restore);
  await eventually(async () => (await caller.api("/images")).status === 200, timeout);
  t.diagnostic(`from the loss to the first answer: ${((performance.now() - lostMs) / 1000).toFixed(1)} s`);
  assert.equal((await caller.api(`/images/${id}`)).json.status, "ready");
});
