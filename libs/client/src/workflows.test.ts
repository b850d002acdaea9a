import assert from "node:assert/strict";
import { test } from "node:test";
import { openTestClient, type Received } from "../test/test-server.ts";

const photo = new File([new Uint8Array(2_500_000).fill(7)], "photo.jpg", { type: "image/jpeg" });

/** A service that keeps the pieces of an upload. Each fault is the fate of one piece, in order. */
function uploads(faults: readonly ("lost" | "half" | number)[] = []) {
  const kept: Buffer[] = [];
  const left = [...faults];
  const offset = () => kept.reduce((sum, piece) => sum + piece.length, 0);
  const answer = ({ method, url, headers, body }: Received) => {
    if (method === "POST" && url === "/images/uploads")
      return { status: 201, body: { id: "upl_1", method: "PATCH", headers: {} } };
    if (method === "HEAD") return { headers: { "Upload-Offset": String(offset()) } };
    if (method === "DELETE") return { status: 204 };
    if (method === "POST") return { status: 201, body: { id: "img_1", status: "ready" } };
    if (headers["upload-offset"] !== String(offset())) return { status: 409, body: {} };
    const fault = left.shift();
    if (typeof fault === "number") return { status: fault, body: {} };
    kept.push(fault === "half" ? body.subarray(0, body.length / 2) : body);
    return fault === undefined ? { status: 204 } : null;
  };
  return { answer, bytes: () => Buffer.concat(kept) };
}

test("a file is uploaded in pieces with progress, then its details", async (t) => {
  const service = uploads();
  const { client, received } = await openTestClient(t, service.answer);
  const progress: number[] = [];
  const image = await client.uploadImage(photo, {
    title: "Hills",
    onProgress: ({ sentBytes }) => void progress.push(sentBytes),
  });
  assert.equal(image.id, "img_1");
  assert.deepEqual(progress, [0, 1_048_576, 2_097_152, 2_500_000]);
  assert.ok(service.bytes().equals(Buffer.from(await photo.arrayBuffer())));
  const announced = { filename: "photo.jpg", mime_type: "image/jpeg", size_bytes: 2_500_000 };
  assert.deepEqual(JSON.parse(String(received[0]?.body)), announced);
  assert.deepEqual(JSON.parse(String(received.at(-1)?.body)), { title: "Hills" });
  assert.equal(received[1]?.headers["content-type"], "application/partial-upload");
});

test("an upload goes on where it broke off: after a lost answer, half a piece, a busy server", async (t) => {
  const service = uploads(["lost", "half", 503]);
  const { client } = await openTestClient(t, service.answer);
  await client.uploadImage(photo);
  assert.ok(service.bytes().equals(Buffer.from(await photo.arrayBuffer())));
});

test("a refused upload is cancelled before the refusal is thrown", async (t) => {
  const { client, received } = await openTestClient(t, uploads([413]).answer);
  await assert.rejects(client.uploadImage(photo), { status: 413 });
  assert.deepEqual([received.at(-1)?.method, received.at(-1)?.url], ["DELETE", "/images/uploads/upl_1"]);
});

test("a stream, bytes or an iterable is uploaded, up to a bound", async (t) => {
  const bytes = new Uint8Array([1, 2, 3]);
  const iterable = async function* () {
    yield bytes.subarray(0, 1);
    yield bytes.subarray(1);
  };
  for (const source of [bytes, new Blob([bytes]).stream(), iterable()]) {
    const service = uploads();
    const { client } = await openTestClient(t, service.answer);
    await client.uploadImage(source, { mimeType: "image/png", filename: "a.png" });
    assert.deepEqual([...service.bytes()], [1, 2, 3]);
  }
  const { client, received } = await openTestClient(t, uploads().answer);
  const tooLong = client.uploadImage(iterable(), { mimeType: "image/png", streamBytesMax: 2 });
  await assert.rejects(tooLong, RangeError);
  await assert.rejects(client.uploadImage(bytes), /mimeType/);
  assert.equal(received.length, 0);
});

test("an object store gets the file without our credential", async (t) => {
  const store = await openTestClient(t, (_received, index) => ({ status: index === 0 ? 503 : 200 }));
  const { client } = await openTestClient(t, ({ url }) =>
    url === "/images/uploads"
      ? {
          status: 201,
          body: { id: "upl_1", method: "PUT", url: `${store.baseUrl}/bucket/key?sig=1`, headers: { "x-amz-a": "1" } },
        }
      : { body: { id: "img_1" } },
  );
  await client.uploadImage(photo);
  const [, sent] = store.received;
  assert.deepEqual([sent?.method, sent?.url, sent?.body.length], ["PUT", "/bucket/key?sig=1", 2_500_000]);
  assert.deepEqual(
    [sent?.headers["x-amz-a"], sent?.headers["x-api-key"], sent?.headers.authorization],
    ["1", undefined, undefined],
  );
});

test("waiting for an image ends with it, with its failure, or with the time", async (t) => {
  const states = ["processing", "ready", "failed"];
  const { client } = await openTestClient(t, ({ url }, index) => ({
    body: {
      id: url.slice("/images/".length),
      status: url.endsWith("slow") ? "processing" : states[index],
      failure: { code: "pixels" },
    },
  }));
  assert.equal((await client.waitUntilReady("img_1")).status, "ready");
  await assert.rejects(client.waitUntilReady("img_2"), { name: "ImageFailedError", message: /img_2.*pixels/ });
  await assert.rejects(client.waitUntilReady("img_slow", { timeoutMs: 20 }), { name: "TimeoutError" });
});

const message = (id: number, more: object = {}) => ({
  lease_id: `wha_${id}`,
  body: `{"id":${id}}`,
  body_encoding: "utf8",
  headers: {},
  ...more,
});

/** A pull endpoint with these batches; then it has none, and stops the reader. */
async function pullFrom(
  t: Parameters<typeof openTestClient>[0],
  batches: readonly object[][],
  faults: Record<string, number> = {},
) {
  const stop = new AbortController();
  let polls = 0;
  const opened = await openTestClient(t, ({ method, url }) => {
    if (method === "GET") {
      const items = batches[polls++];
      if (!items) stop.abort();
      return { body: { items: items ?? [] } };
    }
    const verb = url.slice(url.lastIndexOf("/") + 1);
    const status = faults[verb] ?? 200;
    delete faults[verb];
    return { status, body: status === 200 ? { items: [] } : {} };
  });
  const ends = () =>
    opened.received
      .filter(({ method }) => method === "POST")
      .map(({ url, body }) => `${url.slice(url.lastIndexOf("/") + 1)} ${JSON.parse(String(body)).lease_ids.join(",")}`);
  return { ...opened, signal: stop.signal, ends };
}

test("a message is acknowledged when the loop body has finished it", async (t) => {
  const { client, signal, ends, received } = await pullFrom(t, [
    [message(1), message(2, { body: "AP8=", body_encoding: "base64" })],
    [message(3)],
  ]);
  const bodies: string[] = [];
  for await (const { rawBody } of client.messages("whe_1", { consumer: "billing", limit: 2, signal })) {
    assert.equal(ends().length, bodies.length, "acknowledged before the next one is handed out");
    bodies.push(Buffer.from(rawBody).toString("latin1"));
  }
  assert.deepEqual(bodies, ['{"id":1}', "\u0000\u00ff", '{"id":3}']);
  assert.deepEqual(ends(), ["ack wha_1", "ack wha_2", "ack wha_3"]);
  assert.equal(
    received[0]?.url,
    "/api/v1/webhooks/endpoints/whe_1/messages?limit=2&wait_seconds=30&lease_seconds=60&consumer=billing",
  );
});

test("a loop body that throws gives back its message and all that were fetched with it", async (t) => {
  const { client, ends } = await pullFrom(t, [[message(1), message(2), message(3)]]);
  const work = async () => {
    for await (const { lease_id } of client.messages("whe_1")) if (lease_id === "wha_2") throw new Error("broken");
  };
  await assert.rejects(work(), /broken/);
  assert.deepEqual(ends(), ["ack wha_1", "nack wha_2", "nack wha_3"]);
});

test("a message ended inside its loop body is not ended again", async (t) => {
  const { client, ends } = await pullFrom(t, [[message(1), message(2)]]);
  for await (const one of client.messages("whe_1")) {
    if (one.lease_id === "wha_1") await one.nack({ delaySeconds: 5, reason: "later" });
    else {
      await one.ack();
      break;
    }
  }
  assert.deepEqual(ends(), ["nack wha_1", "ack wha_2"]);
});

test("an acknowledgement that fails is retried or dropped without ending the loop", async (t) => {
  const outage = await pullFrom(t, [[message(1)]], { ack: 503 });
  for await (const _one of outage.client.messages("whe_1", { signal: outage.signal }));
  assert.deepEqual(outage.ends(), ["ack wha_1", "ack wha_1"]);
  const late = await pullFrom(t, [[message(1)], [message(2)]], { ack: 409 });
  for await (const _one of late.client.messages("whe_1", { signal: late.signal }));
  assert.deepEqual(late.ends(), ["ack wha_1", "ack wha_2"]);
});

test("leases of a slow loop body are extended, those of messages that wait too", async (t) => {
  const { client, signal, ends } = await pullFrom(t, [[message(1), message(2)]]);
  for await (const { lease_id } of client.messages("whe_1", { leaseSeconds: 0.03, signal })) {
    while (lease_id === "wha_1" && ends().length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.equal(ends()[0], "extend wha_1,wha_2");
  assert.deepEqual(
    ends().filter((end) => end.startsWith("ack")),
    ["ack wha_1", "ack wha_2"],
  );
});

test("a handler that throws gives back only its own message", async (t) => {
  const { client, signal, ends, received } = await pullFrom(t, [[message(1)], [message(2)], [message(3)]]);
  await client.consume(
    "whe_1",
    ({ lease_id }) => {
      if (lease_id === "wha_2") throw new Error("no such order");
    },
    { signal },
  );
  assert.deepEqual(ends(), ["ack wha_1", "nack wha_2", "ack wha_3"]);
  const nack = received.find(({ url }) => url.endsWith("/nack"));
  assert.equal(JSON.parse(String(nack?.body)).reason, "no such order");
});

test("consumption ends with the first refusal, in all of its loops", async (t) => {
  const refused = await openTestClient(t, () => ({
    status: 403,
    body: { error: { code: "forbidden", message: "No." } },
  }));
  await assert.rejects(
    refused.client.consume("whe_1", () => undefined, { concurrency: 3 }),
    { code: "forbidden" },
  );
});
