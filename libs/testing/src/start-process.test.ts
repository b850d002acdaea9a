import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startProcess } from "./start-process.ts";

const folder = await mkdtemp(join(tmpdir(), "signalbox-testing-"));
after(() => rm(folder, { recursive: true }));

async function script(code: string): Promise<string> {
  const file = join(folder, `${crypto.randomUUID()}.mjs`);
  await writeFile(file, code);
  return file;
}

test("output, arguments and environment pass, and the exit code comes back", async () => {
  const code = "console.log(process.argv[2], process.env.COLOUR, process.env.NODE_TEST_CONTEXT); process.exit(3)";
  const child = startProcess(await script(code), ["one"], { COLOUR: "blue" });
  assert.deepEqual(await child.exited, { code: 3, signal: null });
  assert.equal(child.stdout, "one blue undefined\n");
  assert.equal(child.isRunning, false);
});

test("signals reach the process and a kill cannot be caught", async () => {
  const code = "process.on('SIGTERM', () => console.log('caught')); setInterval(() => {}, 1000); console.log('up')";
  const child = startProcess(await script(code));
  await child.waitForOutput(/up/);
  child.signal("SIGTERM");
  await child.waitForOutput(/caught/);
  assert.deepEqual(await child.kill(), { code: null, signal: "SIGKILL" });
});

test("waiting for output fails at once, with the output, when the process has ended", async () => {
  const child = startProcess(await script("console.error('no configuration')"));
  await assert.rejects(child.waitForOutput(/ready/), /it ended:\nno configuration/);
});
