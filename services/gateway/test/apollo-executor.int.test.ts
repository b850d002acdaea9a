import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { environment } from "@signalbox/config";

const folder = fileURLToPath(new URL(".", import.meta.url));
const self = fileURLToPath(import.meta.url);

test("every other promise of this folder holds with Apollo's executor too", async () => {
  const names = await readdir(folder);
  const files = names.map((name) => folder + name).filter((path) => path.endsWith(".int.test.ts") && path !== self);
  // Events enough for one fault of each kind: how many there are is no matter of the executor.
  const env = { LIVE_EVENTS: "640", ...environment(), GATEWAY_EXECUTOR: "apollo", NODE_TEST_CONTEXT: undefined };
  const runner = spawn(process.execPath, ["--test", "--test-concurrency=2", ...files], { env });
  let output = "";
  runner.stdout.on("data", (text: Buffer) => {
    output += text;
  });
  const [code] = await once(runner, "close");
  assert.equal(code, 0, output);
  assert.match(output, /\bpass [1-9]/, output);
});
