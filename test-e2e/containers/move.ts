import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { serviceNames } from "@signalbox/core";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { eventually, freePort } from "@signalbox/testing";
import { commandsOf } from "../tour/read-page.ts";
import { createCaller } from "./caller.ts";
import { type ComposedSystem, composedSystem } from "./composed-system.ts";
import { linesWith } from "./page-lines.ts";

const upSmall = "docker compose -f compose.small.yml up --detach";
const timeout = { timeoutMs: 600_000 };
let system: ComposedSystem;

before(async () => {
  system = await composedSystem("docker-compose.yml", await freePort(), { adds: ["compose.small.yml"] });
  await removeBoth();
});
after(() => removeBoth());

async function removeBoth(): Promise<void> {
  await system.remove();
  await system.shell("docker compose -f compose.small.yml down --volumes");
}

test("by the lines of the page a small deployment moves to engines with its keys, images and history", async (t) => {
  const showKey = (await linesWith(upSmall)).at(-1) ?? "";
  await system.shell(upSmall);
  const key = (await eventually(() => system.shell(showKey), timeout)).trim();
  const caller = createCaller(() => system.baseUrl, key);
  const id = await eventually(() => caller.upload(), timeout);
  await eventually(() => caller.isRendered(id), timeout);

  const page = await readFile(join(repositoryFolder, "docs/how-to/move-to-engines.md"), "utf8");
  const startedMs = performance.now();
  for (const { script } of commandsOf("move-to-engines.md", page)) await followed(script);
  for (const service of serviceNames)
    await eventually(() => system.exec(service, ["infra/docker/healthcheck.sh"]), { ...timeout, message: service });
  await eventually(async () => (await caller.api("/images")).status === 200, timeout);
  t.diagnostic(`from the stop to the first answer: ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);

  const { json } = await caller.api(`/images/${id}`);
  assert.equal(json.status, "ready");
  const content = await fetch(`${system.baseUrl}/images/${id}/content`, { headers: { "x-api-key": key } });
  assert.ok((await content.arrayBuffer()).byteLength > 0 && content.ok, "its bytes came along");
  const later = await caller.upload();
  await eventually(() => caller.isRendered(later), timeout);
});

/** Runs a block of the page. Podman has no order of starts, so an engine may not be there yet for a job. */
async function followed(script: string): Promise<void> {
  const isOfJobs = /run --rm (roles|migrate|topics)$/m.test(script);
  for (const command of isOfJobs ? script.split("\n") : [script])
    await (isOfJobs ? eventually(() => system.shell(command), timeout) : system.shell(`set -e; ${command}`));
}
