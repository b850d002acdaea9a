import assert from "node:assert/strict";
import { test } from "node:test";
import { openTestClient } from "../test/test-server.ts";
import { ApiError } from "./answers.ts";
import { requests } from "./generated/resources.ts";
import { etagOf } from "./resources.ts";

const error = (code: string) => ({
  error: { code, message: "No.", request_id: "req_1", doc_url: "https://x/docs", details: [] },
});

test("a method makes the request of its operation", async (t) => {
  const { client, received } = await openTestClient(t, () => ({ body: { id: "whe_1" } }));
  const endpoint = await client.webhookEndpoints.create({ url: "https://a.example/hook", event_types: ["image.*"] });
  assert.equal(endpoint.id satisfies string, "whe_1");
  await client.webhookEndpoints.update(
    "whe 1/2",
    { description: "mine" },
    { ifMatch: '"1"', headers: { "X-Request-Id": "r" } },
  );
  await client.webhookEndpoints.statistics("whe_1", { bucket: "1h" });
  await client.webhookEndpoints.pause("whe_1", { idempotencyKey: "mine" });
  await client.images.upload({ file: new File(["bytes"], "a.png", { type: "image/png" }), tags: ["sea"] });
  assert.deepEqual(
    received.map(({ method, url }) => `${method} ${url}`),
    [
      "POST /api/v1/webhooks/endpoints",
      "PATCH /api/v1/webhooks/endpoints/whe%201%2F2",
      "GET /api/v1/webhooks/endpoints/whe_1/statistics?bucket=1h",
      "POST /api/v1/webhooks/endpoints/whe_1/pause",
      "POST /images",
    ],
  );
  const [created, updated, , paused, uploaded] = received;
  assert.deepEqual(JSON.parse(String(created?.body)), { url: "https://a.example/hook", event_types: ["image.*"] });
  assert.equal(created?.headers["x-api-key"], "sbx_dev_1");
  assert.equal(updated?.headers["if-match"], '"1"');
  assert.equal(updated?.headers["x-request-id"], "r");
  assert.equal(paused?.headers["idempotency-key"], "mine");
  assert.match(uploaded?.headers["content-type"] ?? "", /^multipart\/form-data/);
});

test("a change is sent again under the same key until it is answered", async (t) => {
  const answers = [null, { status: 503, body: {} }, { status: 201, body: { id: "key_1" } }];
  const { client, received } = await openTestClient(t, (_received, index) => answers[index % 3] ?? null);
  await client.apiKeys.create({ name: "deploy", scopes: ["images:read"] });
  await client.apiKeys.create({ name: "deploy", scopes: ["images:read"] });
  const keys = received.map(({ headers }) => headers["idempotency-key"]);
  assert.deepEqual([new Set(keys).size, new Set(keys.slice(0, 3)).size, keys.length], [2, 1, 6]);
});

test("a change that the service does not remember is sent once", async (t) => {
  const { client, received } = await openTestClient(t, () => ({ status: 503, body: error("unavailable") }));
  await assert.rejects(client.webhookEndpoints.test("whe_1"), { code: "unavailable" });
  assert.equal(received.length, 1);
  assert.equal(received[0]?.headers["idempotency-key"], undefined);
});

test("a refusal is thrown with its code, status and request id", async (t) => {
  const { client } = await openTestClient(t, () => ({ status: 404, body: error("not_found") }));
  await assert.rejects(client.images.get("img_1"), (thrown) => {
    assert.ok(thrown instanceof ApiError);
    assert.deepEqual([thrown.code, thrown.status, thrown.requestId], ["not_found", 404, "req_1"]);
    return true;
  });
  await assert.rejects(async () => await client.images.list(), { code: "not_found" });
});

test("a list reads pages as its loop uses them, or the first when awaited", async (t) => {
  const { client, received } = await openTestClient(t, ({ url }) => {
    const at = Number(new URL(url, "http://x").searchParams.get("cursor") ?? 1);
    return { body: { items: [{ id: `img_${at}` }], has_more: at < 3, ...(at < 3 && { next_cursor: String(at + 1) }) } };
  });
  const ids: string[] = [];
  for await (const image of client.images.list({ limit: 1, tag: "sea" })) ids.push(image.id);
  assert.deepEqual(ids, ["img_1", "img_2", "img_3"]);
  assert.deepEqual(received.map(({ url }) => url).slice(1), [
    "/images?limit=1&tag=sea&cursor=2",
    "/images?limit=1&tag=sea&cursor=3",
  ]);

  received.length = 0;
  for await (const image of client.images.list()) if (image.id === "img_2") break;
  assert.equal(received.length, 2, "a loop that ends reads no further");
  const page = await client.images.list({ limit: 1 });
  assert.deepEqual([page.items[0]?.id, page.has_more, page.next_cursor], ["img_1", true, "2"]);
});

test("a resource remembers the entity tag that it was read with", async (t) => {
  const { client } = await openTestClient(t, () => ({ headers: { ETag: '"7"' }, body: { id: "img_1" } }));
  const image = await client.images.get("img_1");
  assert.equal(etagOf(image), '"7"');
  assert.equal(etagOf({ ...image }), undefined);
});

test("bytes are answered as a response, an empty body as undefined", async (t) => {
  const { client } = await openTestClient(t, ({ method }) => (response) => {
    if (method === "DELETE") return response.writeHead(204).end();
    return response.writeHead(200, { "content-type": "image/png" }).end("bytes");
  });
  assert.equal(await (await client.images.content("img_1", { width: 200 })).text(), "bytes");
  assert.equal(await client.images.delete("img_1"), undefined);
});

test("an id that would lead to another route is refused before anything is sent", async (t) => {
  const { client, received } = await openTestClient(t, () => ({}));
  for (const id of ["", ".", "..", undefined, null, 1])
    assert.throws(() => client.images.delete(id as string), /image_id must be an id/);
  assert.equal(received.length, 0);
});

test("a time limit or a signal ends a call, also while it waits to retry", async (t) => {
  const never = () => () => undefined;
  const silent = await openTestClient(t, never);
  await assert.rejects(silent.client.images.get("img_1", { timeoutMs: 20 }), { name: "TimeoutError" });
  await assert.rejects(silent.client.images.get("img_1", { signal: AbortSignal.abort() }), { name: "AbortError" });

  const stop = new AbortController();
  const busy = await openTestClient(
    t,
    () => {
      setImmediate(() => stop.abort());
      return { status: 429, headers: { "Retry-After": "20" }, body: {} };
    },
    { retry: {} },
  );
  await assert.rejects(busy.client.images.get("img_1", { signal: stop.signal }), { name: "AbortError" });
  assert.equal(busy.received.length, 1);
});

test("Retry-After is read as seconds or as a date", async (t) => {
  const { client, waits } = await openTestClient(t, (_received, index) => {
    const after = [new Date(Date.now() + 5_000).toUTCString(), "Wed, 21 Oct 2015 07:28:00 GMT"][index];
    return after ? { status: 429, headers: { "Retry-After": after }, body: {} } : { body: {} };
  });
  await client.images.get("img_1");
  const [later = 0, past] = waits;
  assert.ok(later > 3_000 && later <= 5_000, String(later));
  assert.equal(past, 0);
});

test("no resource hides another member of the client", async (t) => {
  const { client } = await openTestClient(t, () => ({}));
  const plain = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "request", "use", "eject"];
  const workflows = ["uploadImage", "waitUntilReady", "messages", "consume", "subscribe", "configChanges"];
  const names = [...plain, ...workflows, ...Object.keys(requests)];
  assert.deepEqual(Object.keys(client).toSorted(), [...new Set(names)].toSorted());
  assert.equal(new Set(names).size, names.length);
});
