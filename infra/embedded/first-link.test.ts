import assert from "node:assert/strict";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { type CreateFirstLink, offerFirstLinks } from "./first-link.ts";

/** Collects what is printed. */
function terminal(isTTY: boolean) {
  const output = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY });
  return { output, text: () => String(output.read() ?? "") };
}

const runner = { defer: () => {} };

test("an unrequested link is for the first administrator alone: whole on a terminal, without its secret in a log", async () => {
  const asked: unknown[] = [];
  const create: CreateFirstLink = async (options) => {
    asked.push(options);
    return `http://127.0.0.1:8080/oauth/first-link/${options?.masked ? "…" : "sbx_link_x"}`;
  };
  const [shown, logged] = [terminal(true), terminal(false)];
  await offerFirstLinks({ create, isWanted: false, runner, input: new PassThrough(), output: shown.output });
  assert.match(shown.text(), /once and within ten minutes:\nhttp:.*sbx_link_x\n$/);
  await offerFirstLinks({ create, isWanted: false, runner, input: new PassThrough(), output: logged.output });
  assert.match(logged.text(), /first-link\/…: start with `npm start -- --link` to see it\.\n$/);
  assert.deepEqual(asked, [{ onlyFirst: true }, { onlyFirst: true, masked: true }]);
});

test("only the option or a line that says link prints a new link", async () => {
  let made = 0;
  const create = async () => `http://127.0.0.1:8080/oauth/first-link/${++made}`;
  const input = new PassThrough();
  const { output, text } = terminal(false);
  await offerFirstLinks({ create, isWanted: true, runner, input, output });
  assert.match(text(), /first-link\/1\n$/);
  input.write("links\nlink\n");
  await once(output, "readable");
  assert.match(text(), /first-link\/2\n$/);
});

test("where another issuer signs people in, the one who asks is told so", async () => {
  const { output, text } = terminal(true);
  const given = { create: async () => null, runner, output };
  await offerFirstLinks({ ...given, isWanted: false, input: new PassThrough() });
  assert.equal(text(), "");
  await offerFirstLinks({ ...given, isWanted: true, input: new PassThrough() });
  assert.match(text(), /account\.issuer\.enabled/);
});
