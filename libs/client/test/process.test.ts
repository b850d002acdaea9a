import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { eventually } from "@signalbox/testing";
import { openTestClient } from "./test-server.ts";

const program = fileURLToPath(new URL("../src/command/signalbox-cli.ts", import.meta.url));
const run = promisify(execFile);

test("a full disk ends in a sentence", {
  skip: !existsSync("/dev/full") && "this system has no /dev/full",
}, async () => {
  const failed = await run("sh", ["-c", `"${process.execPath}" "${program}" --help > /dev/full`]).catch((e) => e);
  assert.deepEqual([failed.code, failed.stderr], [1, "signalbox: The output cannot be written: ENOSPC.\n"]);
});

test("a reader that has seen enough is no failure", async () => {
  const { stderr } = await run("sh", ["-c", `"${process.execPath}" "${program}" --help | true`]);
  assert.equal(stderr, "");
});

test("a listener ends with the shell that started it", async (t) => {
  const { baseUrl, received } = await openTestClient(t, ({ method }) =>
    method === "POST"
      ? { body: { id: "whe_1", secret: "whsec_1" } }
      : (response) => response.writeHead(200, { "content-type": "text/event-stream" }).write(": hello\n\n"),
  );
  const env = { PATH: process.env.PATH, SIGNALBOX_URL: baseUrl, SIGNALBOX_API_KEY: "sbx_dev_1" };
  const script = `"${process.execPath}" "${program}" listen & echo $!; wait`;
  const shell = spawn("sh", ["-c", script], { env, stdio: ["ignore", "pipe", "ignore"] });
  const pid = await new Promise<number>((resolve) => shell.stdout.once("data", (text) => resolve(Number(text))));
  await eventually(() => received.length === 2);
  shell.kill("SIGKILL");
  await eventually(() => !isAlive(pid));
});

for (const [state, answersWith] of Object.entries({ "has no answer": null, "is connected": ": hello\n\n" })) {
  test(`Ctrl-C ends a listener that ${state} with 0`, async (t) => {
    const { baseUrl, received } = await openTestClient(t, ({ method }) => {
      if (answersWith === null) return () => undefined;
      if (method === "POST") return { body: { id: "whe_1", secret: "whsec_1" } };
      return (response) => response.writeHead(200, { "content-type": "text/event-stream" }).write(answersWith);
    });
    const env = { PATH: process.env.PATH, SIGNALBOX_URL: baseUrl, SIGNALBOX_API_KEY: "sbx_dev_1" };
    const listener = spawn(process.execPath, [program, "listen"], { env, stdio: "ignore" });
    const ended = new Promise((resolve) => listener.once("exit", (code, signal) => resolve(code ?? signal)));
    await eventually(() => received.length === (answersWith === null ? 1 : 2));
    listener.kill("SIGINT");
    assert.equal(await ended, 0);
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("bash completes the value of an option", async () => {
  const { stdout: script } = await run(process.execPath, [program, "completion", "bash"]);
  const asked = `signalbox() { [ "$*" = "completion endpoints" ] && echo "whe_1 whe_2"; }
${script}
COMP_WORDS=(signalbox retry --endpoint whe_) COMP_CWORD=3
_signalbox
echo "\${COMPREPLY[*]}"`;
  assert.equal((await run("bash", ["-c", asked])).stdout, "whe_1 whe_2\n");
});
