import assert from "node:assert/strict";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startEngine } from "@signalbox/testing";
import { createClient, expectStatus } from "../journey/client.ts";
import { newDataDirectory, removeData, runEmbedded } from "../systems/embedded-system.ts";

test("every service runs in one process on a database server of one's own, and starts none", async () => {
  const server = await startEngine("postgres");
  const dataDirectory = await newDataDirectory();
  const properties = { "embedded.database-url": new URL("/", server.url).href, "shutdown.grace": "0" };
  const start = () => {
    const process = runEmbedded(dataDirectory, properties);
    return { process, ready: process.waitForOutput(/Base URL +(\S+)\n[\s\S]*?API key +(\S+)\n[\s\S]*Ctrl-C/, 180_000) };
  };
  try {
    const first = start();
    const [, baseUrl = "", apiKey = ""] = await first.ready;
    const account = { method: "PATCH", body: { display_name: "Ada" } };
    expectStatus(await createClient(baseUrl, apiKey)("/api/account/", account), 200);
    await assert.rejects(access(join(dataDirectory, "postgres")), { code: "ENOENT" });
    first.process.signal("SIGTERM");
    assert.equal((await first.process.exited).code, 0);

    const second = start();
    const [, again = "", sameKey = ""] = await second.ready;
    assert.equal(sameKey, apiKey);
    const kept = expectStatus(await createClient(again, apiKey)("/api/account/"), 200);
    assert.equal(kept.json.display_name, "Ada");
    second.process.signal("SIGTERM");
    assert.equal((await second.process.exited).code, 0);
  } finally {
    await server.close();
    await removeData({ dataDirectory });
  }
});
