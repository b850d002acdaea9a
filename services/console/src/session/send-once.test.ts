import assert from "node:assert/strict";
import { test } from "node:test";
import { sendOnce } from "./send-once.ts";

const post = (content: object, path = "/events") =>
  new Request(`http://127.0.0.1${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(content),
  });

/** Answers each request with the next status; null loses the answer. */
function serverOf(...statuses: readonly (number | null)[]) {
  const keys: (string | null)[] = [];
  return {
    keys,
    async send(request: Request): Promise<Response> {
      keys.push(request.headers.get("Idempotency-Key"));
      const status = statuses[keys.length - 1];
      if (!status) throw new TypeError("fetch failed");
      return Response.json({ number: keys.length }, { status });
    },
  };
}

test("a change that is pressed twice is sent once, with one answer for both", async () => {
  const { keys, send } = serverOf(202, 202);
  const answers = await Promise.all([sendOnce(post({ a: 1 }), send), sendOnce(post({ a: 1 }), send)]);
  assert.deepEqual(await Promise.all(answers.map((answer) => answer.json())), [{ number: 1 }, { number: 1 }]);
  assert.equal(keys.length, 1);
});

for (const lost of [null, 503, 409])
  test(`a change whose first answer was ${lost ?? "lost"} keeps its key`, async () => {
    const { keys, send } = serverOf(lost, 202);
    await sendOnce(post({ b: lost }), send).catch(() => {});
    await sendOnce(post({ b: lost }), send);
    assert.equal(keys[1], keys[0]);
  });

test("another content after a lost answer has another key", async () => {
  const { keys, send } = serverOf(null, 202);
  await sendOnce(post({ c: 1 }), send).catch(() => {});
  await sendOnce(post({ c: 2 }), send);
  assert.equal(new Set(keys).size, 2);
});

test("the same content after an answer is another change", async () => {
  const { keys, send } = serverOf(202, 202);
  for (let count = 0; count < 2; count++) await sendOnce(post({ d: 1 }), send);
  assert.equal(new Set(keys).size, 2);
});

test("a file is sent without a key of its content", async () => {
  const { keys, send } = serverOf(201);
  await sendOnce(new Request("http://127.0.0.1/images", { method: "POST", body: new FormData() }), send);
  assert.deepEqual(keys, [null]);
});
