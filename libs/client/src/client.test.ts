import assert from "node:assert/strict";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { ApiError, dataOf, idempotencyKey } from "./answers.ts";
import { createClient } from "./client.ts";

interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

interface Received {
  readonly request: IncomingMessage;
  readonly body: string;
}

/** A client of a server that gives these answers in turn; null hangs up. Waits are recorded instead of waited. */
async function setUp(
  t: TestContext,
  answers: readonly (Answer | null)[],
  credential?: Parameters<typeof createClient>[0]["credential"],
) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const answer = answers[received.length];
    received.push({ request, body });
    if (!answer) return response.destroy();
    response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
    return response.end(answer.body === undefined ? "" : JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const waits: number[] = [];
  const client = createClient({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...(credential && { credential }),
    retry: { wait: async (ms) => void waits.push(ms) },
  });
  return { client, received, waits };
}

const limited: Answer = { status: 429, headers: { "Retry-After": "2" }, body: {} };
const away: Answer = { status: 503, body: {} };
const name = { body: { name: "deploy" } };

test("every request carries the API key or a fresh token", async (t) => {
  let asked = 0;
  const token = () => `token-${++asked}`;
  const withToken = await setUp(t, [{ status: 200 }, { status: 200 }], { token });
  await withToken.client.GET("/api/account");
  await withToken.client.GET("/api/account");
  const authorizations = withToken.received.map(({ request }) => request.headers.authorization);
  assert.deepEqual(authorizations, ["Bearer token-1", "Bearer token-2"]);

  const withKey = await setUp(t, [{ status: 200 }], { apiKey: "sbx_dev_1" });
  await withKey.client.GET("/api/account");
  assert.equal(withKey.received[0]?.request.headers["x-api-key"], "sbx_dev_1");
});

test("a refusal is thrown with its code, other answers return their data", async (t) => {
  const error = { code: "not_found", message: "There is nothing here.", request_id: "r-1" };
  const { client } = await setUp(t, [
    { status: 200, body: { id: "key_1" } },
    { status: 404, body: { error } },
    { status: 418, body: "a teapot between us" },
  ]);
  const read = () => dataOf(client.GET("/api/account/api-keys/{key_id}", { params: { path: { key_id: "key_1" } } }));
  assert.equal((await read()).id, "key_1");
  await assert.rejects(read(), { name: "ApiError", status: 404, code: "not_found", requestId: "r-1" });
  await assert.rejects(read(), (thrown) => thrown instanceof ApiError && thrown.code === "unknown");
});

test("a refusal of the graph has the message of its first error", async (t) => {
  const { client } = await setUp(t, [{ status: 400, body: { errors: [{ message: "Not this number." }] } }]);
  const query = { body: { query: "{ flags { key } }" } };
  await assert.rejects(dataOf(client.POST("/graphql", query)), { name: "ApiError", message: "Not this number." });
});

test("a refusal of odd types is one of an unknown code", async (t) => {
  const error = { code: 5, message: { a: 1 }, details: "x" };
  const { client } = await setUp(t, [{ status: 400, body: { error } }]);
  await assert.rejects(dataOf(client.GET("/api/account")), { name: "ApiError", code: "unknown", details: [] });
});

test("a body with a file is sent as a form", async (t) => {
  const { client, received } = await setUp(t, [{ status: 201 }]);
  const file = new File(["bytes"], "photo.jpg", { type: "image/jpeg" });
  await client.POST("/images", { body: { file, tags: ["sea", "boat"], visibility: "public" } });
  const [{ request, body } = assert.fail()] = received;
  assert.match(request.headers["content-type"] ?? "", /^multipart\/form-data; boundary=/);
  for (const part of [
    /name="file"; filename="photo.jpg"/,
    /\r\n\r\nsea\r\n/,
    /\r\n\r\nboat\r\n/,
    /\r\n\r\npublic\r\n/,
  ]) {
    assert.match(body, part);
  }
});

test("a request refused with 429 is sent again after its wait", async (t) => {
  const { client, received, waits } = await setUp(t, [limited, { status: 200, body: {} }]);
  const { response } = await client.PATCH("/api/account", { body: { display_name: "Ada" } });
  assert.equal(response.status, 200);
  assert.deepEqual(waits, [2000]);
  assert.deepEqual(
    received.map(({ body }) => body),
    ['{"display_name":"Ada"}', '{"display_name":"Ada"}'],
  );
});

test("a harmless request is repeated through an outage, with longer waits", async (t) => {
  const { client, waits } = await setUp(t, [null, away, { status: 200, body: {} }]);
  assert.equal((await client.GET("/api/account")).response.status, 200);
  assert.deepEqual(waits, [250, 500]);
});

test("a change is repeated only under the same Idempotency-Key", async (t) => {
  const bare = await setUp(t, [away]);
  const body = { ...name.body, scopes: ["images:read" as const] };
  assert.equal((await bare.client.POST("/api/account/api-keys", { body })).response.status, 503);
  assert.equal(bare.received.length, 1);

  const keyed = await setUp(t, [null, { status: 201, body: {} }]);
  const header = idempotencyKey();
  await keyed.client.POST("/api/account/api-keys", { params: { header }, body });
  const keys = keyed.received.map(({ request }) => request.headers["idempotency-key"]);
  assert.deepEqual(keys, [header["Idempotency-Key"], header["Idempotency-Key"]]);
});

test("the answer to the last try is returned", async (t) => {
  const stubborn = await setUp(t, [away, away, away, { status: 200 }]);
  assert.equal((await stubborn.client.GET("/api/account")).response.status, 503);
  assert.equal(stubborn.received.length, 3);
});

test("an answer with a long Retry-After is returned at once", async (t) => {
  const patient = await setUp(t, [{ ...limited, headers: { "Retry-After": "3600" } }, { status: 200 }]);
  assert.equal((await patient.client.GET("/api/account")).response.status, 429);
  assert.deepEqual(patient.waits, []);
});

test("a server that hangs up on every try ends in an error", async (t) => {
  const { client, received } = await setUp(t, []);
  await assert.rejects(client.GET("/api/account"), TypeError);
  assert.equal(received.length, 3);
});
