import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, beforeEach, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { eventually } from "./eventually.ts";
import { createReceiver } from "./receiver.ts";

const receiver = await createReceiver();
after(() => receiver.close());
beforeEach(() => {
  receiver.clear();
  receiver.answer({});
});

test("a request is kept byte for byte, with its headers as sent", async () => {
  const body = Buffer.from([0, 255, 10, 13, 0x7b]);
  await fetch(`${receiver.url}/hook?x=1`, { method: "POST", body, headers: { "X-One": "1" } });
  const request = await receiver.waitFor(({ path }) => path === "/hook?x=1");
  assert.equal(request.method, "POST");
  assert.deepEqual(request.body, body);
  assert.equal(request.headers["x-one"], "1");
  assert.ok(request.rawHeaders.includes("X-One") || request.rawHeaders.includes("x-one"));
});

test("scripted answers are used up before the standing one applies again", async () => {
  receiver.answer({ status: 204 });
  receiver.answerNext({ status: 500 }, { status: 429, headers: { "retry-after": "1" } });
  const statuses = [];
  for (let count = 0; count < 3; count++) statuses.push((await fetch(receiver.url)).status);
  assert.deepEqual(statuses, [500, 429, 204]);
});

test("an answer may depend on the request or its number", async () => {
  receiver.answer(({ path }, index) => ({ body: `${path} ${index}` }));
  assert.equal(await (await fetch(`${receiver.url}/a`)).text(), "/a 0");
  assert.equal(await (await fetch(`${receiver.url}/b`)).text(), "/b 1");
});

test("a hanging receiver takes the request but never answers", async () => {
  receiver.answer({ instead: "hang" });
  const giveUp = new AbortController();
  let answered = false;
  const asking = fetch(receiver.url, { signal: giveUp.signal }).finally(() => {
    answered = true;
  });
  await receiver.waitFor(() => true);
  // Enough turns of the event loop for an answer, if there were one, before the caller gives up.
  for (let turn = 0; turn < 20; turn++) await setImmediate();
  assert.equal(answered, false);
  giveUp.abort();
  await assert.rejects(asking, { name: "AbortError" });
  assert.equal(receiver.requests.length, 1);
});

test("a reset ends the connection without an answer", async () => {
  receiver.answer({ instead: "reset" });
  await assert.rejects(fetch(receiver.url));
});

test("a cut ends the connection in the middle of the body", async () => {
  receiver.answer({ instead: "cut", body: "half" });
  const response = await fetch(receiver.url);
  await assert.rejects(response.text());
});

test("a dripping body arrives a byte at a time", async () => {
  receiver.answer({ dripMs: 5, body: "drip" });
  let pieces = 0;
  let text = "";
  await new Promise<void>((resolve, reject) => {
    const socket = connect(receiver.port, "127.0.0.1", () => socket.write("GET / HTTP/1.0\r\n\r\n"));
    socket.on("data", (bytes) => {
      pieces++;
      text += bytes;
    });
    socket.on("end", resolve).on("error", reject);
  });
  assert.match(text, /drip$/);
  assert.ok(pieces >= 3, `the body came in ${pieces} pieces`);
});

test("closing ends answers that hang or drip", async () => {
  const own = await createReceiver({ instead: "hang" });
  const request = fetch(own.url);
  await eventually(() => own.requests.length === 1);
  await own.close();
  await assert.rejects(request);
});
