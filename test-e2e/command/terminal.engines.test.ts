import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { commands } from "@signalbox/client/command";
import { createReceiver, eventually } from "@signalbox/testing";
import { createClient } from "../journey/client.ts";
import { type EmbeddedSystem, removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
import { createPerson } from "./run-signalbox.ts";

let system: EmbeddedSystem;
before(async () => {
  system = await startEmbeddedSystem({ properties: { "webhook-delivery.outbound.allow": "127.0.0.1:*" } });
});
after(async () => {
  await system.stop();
  await removeData(system);
});

const [up, down] = ["\u001b[A", "\u001b[B"];
/** Would clear the screen, set the title of the window, and turn the reading direction. */
const hostile = "\u001b[2J\u001b]0;owned\u0007\u009b31m\u202e";

const publish = async ({ baseUrl, apiKey }: EmbeddedSystem, body: object) => {
  const { status } = await createClient(baseUrl, apiKey)("/api/v1/webhooks/events", { body });
  assert.equal(status, 202);
};

test("the list of listen is driven by keys, never by hostile data", async (t) => {
  const person = await createPerson(t, system);
  const receiver = await createReceiver({ body: hostile });
  t.after(() => receiver.close());
  const terminal = person.inTerminal(["listen", "--forward", receiver.url, "--events", "order.*"]);
  t.after(terminal.kill);
  const shows = (pattern: RegExp) =>
    eventually(() => assert.match(terminal.screen, pattern), { message: `the terminal shows ${pattern}` });

  await shows(/connected +0 messages\s+Signing secret whsec_/);
  await publish(system, { type: "order.first", data: { text: hostile } });
  await shows(/▸ .*200 .* order\.first/);
  await publish(system, { type: "order.second", data: {} });
  await shows(/▸ .*order\.second[\s\S]*order\.first/);
  terminal.type(down);
  await shows(/order\.second[\s\S]*▸ .*order\.first/);
  terminal.type("d");
  await shows(
    /order\.first +event evt_[\s\S]*webhook-signature: v1,[\s\S]*\\u001b\[2J\\u001b\]0;owned\\u0007\\u009b31m\\u202e/,
  );
  terminal.type("d");
  await shows(/order\.second[\s\S]*▸ .*order\.first/);
  terminal.type("r");
  await receiver.waitFor(({ headers }) => headers["x-event-type"] === "order.first" && receiver.requests.length === 3);
  await shows(/▸ .*order\.first .*attempt 2/);
  assert.equal(
    new Set(receiver.requests.map(({ body }) => body.toString())).size,
    2,
    "it came again with its own bytes",
  );
  terminal.type("o");
  await shows(/Open(ed)? http\S+\/console\/\S*whd_/);
  terminal.type(up);
  await shows(/▸ .*order\.second/);
  terminal.type("q");
  assert.equal(await terminal.exited, 0);

  const own = /\p{Cc}\[(\?1049[hl]|\?25[hl]|H|K|\d+m)|\r+\n/gu;
  assert.doesNotMatch(terminal.output.replace(own, ""), /[\p{Cc}\p{Cf}]/u, "nothing else reached the terminal");
  assert.match(terminal.output, /\[\?1049l2 messages\.\r\nSigning secret whsec_\S+\r\n$/, "the screen is given back");
});

test("a replay asks at a terminal, where no is an answer", async (t) => {
  const person = await createPerson(t, system);
  const receiver = await createReceiver();
  t.after(() => receiver.close());
  const body = { url: receiver.url, event_types: ["letter.*"] };
  const { json } = await createClient(system.baseUrl, system.apiKey)("/api/v1/webhooks/endpoints", { body });
  await publish(system, { type: "letter.sent", data: {} });
  await receiver.waitFor(() => true);
  const words = ["replay", "--endpoint", json.id, "--since", "1h"];
  for (const [answer, code, requests] of [
    ["n\r", 1, 1],
    ["y\r", 0, 2],
  ] as const) {
    const isCounted = async () => (await person.run([...words, "--dry-run"])).stdout.startsWith("Would send again: 1 ");
    await eventually(isCounted);
    const terminal = person.inTerminal(words);
    t.after(terminal.kill);
    await eventually(() => assert.match(terminal.output, /Send again: 1 delivery .*\? \[y\/N\]/));
    terminal.type(answer);
    assert.equal(await terminal.exited, code, terminal.output);
    await eventually(() => receiver.requests.length === requests);
  }
});

test("every command runs in a terminal with colours until it ends or gets Ctrl-C", async (t) => {
  const person = await createPerson(t, system);
  const calls: Readonly<Record<string, readonly [words: readonly string[], expected: RegExp, code: number]>> = {
    login: [["--with-key"], /The key is read from standard input/, 2],
    logout: [[], /There is no profile "default"/, 2],
    status: [[], /\[2mURL +\p{Cc}\[0m +http/u, 0],
    switch: [[], /Only a signed-in person can switch accounts/, 2],
    api: [["/api/account"], /^\{\r\n {2}"id": "acc_/, 0],
    why: [["nothing"], /not_found: /, 4],
    listen: [["--plain", "--forward", "9", "--events", "nothing.*"], /Events go to http:\/\/localhost:9\//, 0],
    trigger: [["parcel.sent"], /Published parcel\.sent, event evt_/, 0],
    "events tail": [["--since", "1h"], /parcel\.sent/, 0],
    replay: [["whd_nothing"], /not_found: There is no such delivery/, 4],
    retry: [["--dry-run"], /Would send again: \d+ deliver/, 0],
    verify: [["/does/not/exist", "--secret", "whsec_AAAA"], /cannot be read/, 2],
    logs: [[], /Waiting for deliveries/, 0],
    "properties list": [["maxPage"], /limits\.maxPageSize +defaults +100/, 0],
    "properties get": [["limits.maxPageSize"], /reload[^\n]*live/, 0],
    "properties set": [["limits.maxPageSize", "50"], /Give a reason for the change with --reason/, 2],
    "properties unset": [["limits.maxPageSize"], /Give a reason for the change with --reason/, 2],
    "flags list": [[], /KEY/, 0],
    "flags get": [["nothing"], /There is no flag nothing/, 4],
    "flags set": [["/does/not/exist", "--reason", "r"], /cannot be used: ENOENT/, 1],
    "flags roll-out": [["nothing", "10", "--reason", "r"], /There is no flag nothing/, 4],
    "flags import": [["/does/not/exist"], /Give a reason for the change with --reason/, 2],
    completion: [["zsh"], /^#compdef signalbox/, 0],
  };
  assert.deepEqual(
    Object.keys(calls),
    commands.map(({ name }) => name),
  );
  for (const [name, [words, expected, code]] of Object.entries(calls)) {
    const terminal = person.inTerminal([...name.split(" "), ...words]);
    t.after(terminal.kill);
    await eventually(() => assert.match(terminal.output, expected), { message: `${name} shows ${expected}` });
    if (["listen", "events tail", "logs"].includes(name)) terminal.type("\u0003");
    assert.equal(await terminal.exited, code, `${name}: ${terminal.output}`);
  }
});
