import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { createClient } from "@signalbox/client";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { startProcess } from "@signalbox/testing";
import { type EmbeddedSystem, removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
import { freePorts } from "../systems/start-nginx.ts";
import { compileStrictly, installPackedClient, type StrangersProject } from "./packed-client.ts";
import { runSample } from "./uses-packed-client.ts";

let project: StrangersProject;
let system: EmbeddedSystem;
before(async () => {
  project = await installPackedClient("here");
  system = await startEmbeddedSystem({ properties: { "webhook-delivery.outbound.allow": "127.0.0.1:*" } });
});
after(async () => {
  await system.process.kill();
  await removeData(system);
  await project.remove();
});

test("a program of a stranger uploads, lists, changes, pulls, verifies and subscribes with the packed client", () =>
  runSample(project, system));

test("the typed receiver of the README gets its first event with 15 lines", async () => {
  const code = await readFile(join(import.meta.dirname, "receiver.ts"), "utf8");
  assert.ok(code.trimEnd().split("\n").length <= 15);
  assert.ok((await readFile(join(repositoryFolder, "libs/client/README.md"), "utf8")).includes(code.trimEnd()));

  const client = createClient({ baseUrl: system.baseUrl, credential: { apiKey: system.apiKey } });
  const port = String((await freePorts(["http"])).get("http"));
  const url = `http://127.0.0.1:${port}/`;
  const { secret } = await client.webhookEndpoints.create({ url, event_types: ["image.created"] });
  const receiver = startProcess(await project.compile("receiver.ts"), [secret, port]);
  try {
    const photo = await readFile(join(repositoryFolder, "libs/testing/fixtures/images/photo.jpg"));
    await client.uploadImage(photo, { filename: "hills.jpg", mimeType: "image/jpeg" });
    await receiver.waitForOutput(/^hills\.jpg is \d+ wide$/m, 30_000);
    assert.equal((await fetch(url, { method: "POST", body: "{}" })).status, 400);
  } finally {
    await receiver.kill();
  }
});

test("the types need nothing but those of a browser", async () => {
  const program = `import { createClient } from "@signalbox/client";
import { verify } from "@signalbox/client/webhooks";
export const client = createClient({ baseUrl: "https://signalbox.example" });
export const type = async (request: Request) => (await verify(await request.arrayBuffer(), request.headers, "whsec_")).type;
`;
  await writeFile(join(project.folder, "browser.ts"), program);
  await compileStrictly(project.folder, ["--noEmit", "--lib", "es2023,dom,dom.iterable", "browser.ts"]);
});

test("the package has its licence, imports nothing of Node, and weighs at most 20 KB compressed with its dependency", async () => {
  const folder = join(project.folder, "node_modules/@signalbox/client");
  const files = (await readdir(folder, { recursive: true })).filter(
    // The command in the same package is a program of Node, and nobody imports it.
    (name) => name.endsWith(".js") && !name.startsWith("dist/command/"),
  );
  const own = await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")));
  const dependency = await readFile(join(project.folder, "node_modules/openapi-fetch/dist/index.mjs"), "utf8");
  const bytes = gzipSync([...own, dependency].join("\n")).length;
  assert.ok(bytes <= 20 * 1024, `${bytes} bytes`);
  assert.ok(own.every((text) => !/from "node:|require\(|\bBuffer\b|\bprocess\b/.test(text)));
  assert.match(await readFile(join(folder, "LICENSE"), "utf8"), /Apache License/);
  const { dependencies, exports } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  assert.deepEqual([Object.keys(dependencies), Object.keys(exports)], [["openapi-fetch"], [".", "./webhooks"]]);
});
