import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { testPerson } from "./account-stand-in.ts";
import { createReceiver } from "./receiver.ts";
import { createSender } from "./sender.ts";

const receiver = await createReceiver();
const send = createSender(receiver.url);
after(() => receiver.close());
beforeEach(() => {
  receiver.clear();
  receiver.answer({});
});

const sent = async (body: unknown) => {
  await send(null, "POST", "/", { body });
  const { headers, body: bytes } = await receiver.waitFor(() => true);
  receiver.clear();
  return { type: headers["content-type"], text: bytes.toString() };
};

test("text, bytes, forms and streams go as they are; anything else as JSON", async () => {
  assert.deepEqual(await sent({ a: 1 }), { type: "application/json", text: '{"a":1}' });
  assert.deepEqual(await sent([]), { type: "application/json", text: "[]" });
  assert.deepEqual(await sent("{broken"), { type: "text/plain;charset=UTF-8", text: "{broken" });
  assert.deepEqual(await sent(Buffer.from("bytes")), { type: undefined, text: "bytes" });
  assert.deepEqual(await sent(new Blob(["pieces"]).stream()), { type: undefined, text: "pieces" });
  const form = new FormData();
  form.set("title", "Hills");
  assert.match((await sent(form)).type ?? "", /^multipart\/form-data; boundary=/);
});

test("the request is the person's, unless a header says otherwise", async () => {
  const who = testPerson();
  await send(who, "GET", "/own");
  await send(who, "GET", "/other", { headers: { authorization: "Bearer other" } });
  await send(null, "GET", "/nobody");
  assert.deepEqual(
    receiver.requests.map(({ headers }) => headers.authorization),
    [who.headers.authorization, "Bearer other", undefined],
  );
});

test("the body of an answer is its JSON, or null without any", async () => {
  receiver.answerNext(
    { headers: { "content-type": "application/problem+json" }, body: '{"a":1}' },
    { headers: { "content-type": "image/png" }, body: "{}" },
    { status: 204, headers: { "content-type": "application/json" } },
  );
  assert.deepEqual((await send(null, "GET", "/")).body, { a: 1 });
  const image = await send(null, "GET", "/");
  assert.deepEqual([image.body, image.bytes, image.text], [null, Buffer.from("{}"), "{}"]);
  const nothing = await send(null, "GET", "/");
  assert.deepEqual([nothing.status, nothing.body], [204, null]);
});
