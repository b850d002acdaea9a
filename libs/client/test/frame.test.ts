import assert from "node:assert/strict";
import { test } from "node:test";
import { createReceiver } from "@signalbox/testing";
import { commands } from "../src/command/commands.ts";
import { optionsOf } from "../src/command/declare.ts";
import { createHome, json } from "./call.ts";

test("every command's help lists its options, with an example that parses", async (t) => {
  const { call } = await createHome(t);
  for (const command of commands) {
    const { exitCode, stdout } = await call([...command.name.split(" "), "--help"]);
    assert.equal(exitCode, 0);
    assert.ok(stdout.startsWith(`${command.summary}.`), command.name);
    for (const name of Object.keys(optionsOf(command)))
      assert.ok(stdout.includes(`--${name}`), `${command.name} --${name}`);
    assert.ok(command.examples.length > 0, command.name);
    for (const example of command.examples) {
      assert.ok(example.includes(`signalbox ${command.name}`), example);
      for (const [, option = ""] of example.matchAll(/ --([a-z-]+)/g)) assert.ok(optionsOf(command)[option], example);
    }
  }
  assert.match((await call(["--help"])).stdout, /^ {2}why +Show what happened/m);
  assert.match((await call(["help", "why"])).stdout, /^Show what happened/);
  assert.deepEqual(await call(["--version"]), { exitCode: 0, stdout: "1.2.3\n", stderr: "" });
});

test("a wrong command line exits with 2 after an explanation", async (t) => {
  const { call } = await createHome(t);
  for (const [words, reason] of [
    [[], /^Signalbox in a terminal/],
    [["stauts"], /There is no command "stauts"\. Did you mean: status\?/],
    [["why"], /The argument <id> is missing/],
    [["why", "a", "b"], /Unexpected argument "b"/],
    [["why", "a", "--color"], /Unknown option '--color'/],
    [["why", "a", "--url"], /--url <value>' argument missing/],
    [["why", "a", "--url", "ftp://x"], /must be http/],
    [["why", "a", "--url", "http://user:s3cr3t@host"], /without credentials/],
    [["why", "a", "--profile", "nobody"], /There is no profile "nobody"/],
    [["completion", "toString"], /use bash, zsh, fish/],
  ] as const) {
    const { exitCode, stdout, stderr } = await call(words);
    assert.deepEqual([exitCode, stdout], [2, ""], words.join(" "));
    assert.match(stderr, reason);
    assert.doesNotMatch(stderr, /s3cr3t/);
  }
});

test("a refusal is shown with code, message, field and request; its kind is the exit code", async (t) => {
  const receiver = await createReceiver();
  t.after(() => receiver.close());
  const { call } = await createHome(t);
  const environment = { SIGNALBOX_URL: receiver.url, SIGNALBOX_API_KEY: "key" };
  const details = [{ field: "name", code: "invalid", message: "Is \u001b[31m too long." }];
  const error = {
    code: "validation_error",
    message: "Not valid.",
    request_id: "req_1",
    doc_url: "https://d/e",
    details,
  };
  for (const [status, exitCode] of [
    [400, 1],
    [401, 3],
    [403, 3],
    [404, 4],
    [409, 1],
    [503, 5],
  ] as const) {
    receiver.answer({
      ...json({ error }, status),
      headers: { "content-type": "application/json", "retry-after": "60" },
    });
    const refused = await call(["why", "whd_1"], { environment });
    assert.equal(refused.exitCode, exitCode, String(status));
    const lines = [
      "validation_error: Not valid.",
      "  name: Is \\u001b[31m too long.",
      "  request req_1",
      "  https://d/e",
    ];
    assert.equal(refused.stderr, `signalbox: ${lines.join("\n")}\n`);
    const asJson = await call(["--json", "why", "whd_1"], { environment });
    assert.deepEqual(JSON.parse(asJson.stderr), { error });
  }
  await receiver.close();
  const away = await call(["why", "whd_1"], { environment });
  assert.deepEqual(
    [away.exitCode, away.stderr],
    [5, `signalbox: ${new URL(receiver.url).host} does not answer: ECONNREFUSED.\n`],
  );
});

test("a table for people has no control characters of the API, and --json is the answer", async (t) => {
  const step = {
    at: null,
    service: "images",
    id: "i",
    what: "\u001b[2J",
    verdict: "done",
    reason: "\u202e",
    by: null,
    link: null,
  };
  const receiver = await createReceiver(json({ items: [step] }));
  t.after(() => receiver.close());
  const { call } = await createHome(t);
  const environment = { SIGNALBOX_URL: receiver.url, SIGNALBOX_API_KEY: "key" };
  const shown = await call(["why", "img/1"], { environment, isTerminal: true });
  assert.match(shown.stdout, /\\u001b\[2J \(\\u202e\)/);
  assert.equal(receiver.requests[0]?.path, "/api/v1/why/img%2F1");
  assert.deepEqual(JSON.parse((await call(["why", "i", "--json"], { environment })).stdout), { items: [step] });
});
