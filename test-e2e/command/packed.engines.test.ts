import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { packClient } from "@signalbox/infra/release/pack-client.ts";
import { environment } from "@signalbox/runtime";
import { createReceiver } from "@signalbox/testing";

const run = promisify(execFile);

test("the packed command runs outside this repository: on its own or against an API", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-packed-"));
  const steps = { items: [{ at: null, service: "images", id: "i", what: "It was stored.", verdict: "done" }] };
  const api = await createReceiver({ headers: { "content-type": "application/json" }, body: JSON.stringify(steps) });
  t.after(() => Promise.all([api.close(), rm(folder, { recursive: true })]));
  const tarball = await packClient(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ name: "elsewhere", private: true }));
  await run("npm", ["install", "--no-audit", "--no-fund", tarball], { cwd: folder });

  const env = { ...environment(), XDG_CONFIG_HOME: folder, SIGNALBOX_URL: api.url, SIGNALBOX_API_KEY: "key" };
  const signalbox = (...words: readonly string[]) => run(join(folder, "node_modules/.bin/signalbox"), words, { env });
  const { version } = JSON.parse(await readFile(join(repositoryFolder, "package.json"), "utf8"));
  assert.equal((await signalbox("--version")).stdout, `${version}\n`);
  assert.match((await signalbox("listen", "--help")).stdout, /--forward <url>/);
  assert.deepEqual(JSON.parse((await signalbox("why", "img_1", "--json")).stdout), steps);
});
