import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { imageExample, webhookEndpointExample, webhookSourceExample } from "@signalbox/contracts";
import { type Harness, startAccount } from "./harness.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** The internal listener of another service, with the test's answers. */
async function startElsewhere() {
  let handler: Handler = () => {};
  const server = createServer((request, response) => handler(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: (next: Handler) => {
      handler = next;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Pages of two items each. */
function pagesOf(items: readonly unknown[]): Handler {
  return (request, response) => {
    const url = new URL(request.url ?? "", "http://elsewhere");
    const from = Number(url.searchParams.get("cursor") ?? 0);
    const next = from + 2 < items.length ? { next_cursor: String(from + 2), has_more: true } : { has_more: false };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ items: items.slice(from, from + 2), ...next }));
  };
}

const away: Handler = (request) => void request.socket.destroy();
const failing: Handler = (_request, response) => void response.writeHead(500).end("{}");
const images = Array.from({ length: 5 }, (_, at) => ({ ...imageExample, id: `img_${at}` }));

let account: Harness;
let elsewhere: Awaited<ReturnType<typeof startElsewhere>>[];
before(async () => {
  elsewhere = await Promise.all([startElsewhere(), startElsewhere(), startElsewhere()]);
  account = await startAccount({
    "images.internal-url": elsewhere[0]?.url ?? "",
    "webhook-ingest.internal-url": `${elsewhere[1]?.url}/prefix`,
    "webhook-delivery.internal-url": elsewhere[2]?.url ?? "",
  });
});
after(async () => {
  for (const each of elsewhere) each.close();
  await account.close();
});

const path = "/api/account/export/";
function held(by: readonly Handler[]): void {
  for (const [at, handler] of by.entries()) elsewhere[at]?.answer(handler);
}
const whole = [pagesOf(images), pagesOf([webhookSourceExample]), pagesOf([])];

test("an export has everything the account has, as an attachment, with its last member", async () => {
  const asked: IncomingMessage[] = [];
  const listening: Handler = (request, response) => {
    asked.push(request);
    whole[0]?.(request, response);
  };
  held([listening, ...whole.slice(1)]);
  const headers = account.person({ name: "Ada" });
  const body = { name: "deploy", scopes: ["account:read"] };
  const { key, id: keyId } = (await account.send("POST", "/api/account/api-keys/", { headers, body })).body;
  const exported = await account.send("GET", path, { headers });
  assert.equal(exported.status, 200);
  const own = (await account.send("GET", "/api/account/", { headers })).body;
  assert.equal(exported.headers.get("content-type"), "application/json");
  assert.equal(exported.headers.get("content-disposition"), `attachment; filename="${own.id}.json"`);
  assert.equal(exported.headers.get("cache-control"), "no-store");

  const { account: shown, settings, identities, api_keys, service_clients, audit, ...rest } = exported.body;
  assert.deepEqual(shown, own);
  assert.deepEqual(settings, (await account.send("GET", "/api/account/settings/", { headers })).body);
  assert.deepEqual(
    identities.map(({ issuer }: { issuer: string }) => issuer),
    ["corp"],
  );
  assert.deepEqual(
    api_keys.map(({ id }: { id: string }) => id),
    [keyId],
  );
  assert.deepEqual([service_clients, rest.left_out, rest.complete], [[], [], true]);
  assert.deepEqual(
    audit.map(({ action }: { action: string }) => action),
    ["api_key.create", "account.create"],
  );
  assert.deepEqual([rest.images, rest.webhook_sources, rest.webhook_endpoints], [images, [webhookSourceExample], []]);
  assert.equal(Object.keys(exported.body).at(-1), "complete");

  const [newest] = (await account.send("GET", "/api/account/audit/", { headers })).body.items;
  assert.equal(newest.action, "account.export", "who exported, and when, is in the audit");
  const text = JSON.stringify(exported.body);
  assert.ok(!text.includes(key) && !text.includes("digest"), "no key and nothing made of one");
  assert.deepEqual(
    asked.map(({ url }) => url),
    [
      `/internal/accounts/${own.id}/export`,
      `/internal/accounts/${own.id}/export?cursor=2`,
      `/internal/accounts/${own.id}/export?cursor=4`,
    ],
  );
  assert.ok(asked.every((request) => request.headers["x-signalbox-internal-token"] === account.principals.token));
});

const nonsense: Handler = (_request, response) => void response.end("[]");

for (const [how, handler] of Object.entries({ "is away": away, fails: failing, "makes no sense": nonsense })) {
  test(`a service that ${how} makes the export 503 before its first byte`, async () => {
    held([...whole.slice(0, 2), handler]);
    const { status, headers, body } = await account.send("GET", path, { headers: account.person() });
    assert.deepEqual([status, body.error.code], [503, "server_error"]);
    assert.ok(Number(headers.get("retry-after")) > 0);
    assert.equal(headers.get("content-disposition"), null);
  });
}

test("a document that is cut off can be taken for no whole one", async () => {
  const later: Handler = (request, response) =>
    request.url?.includes("cursor=2") ? failing(request, response) : whole[0]?.(request, response);
  held([later, ...whole.slice(1)]);
  const headers = account.person();
  const read = async () => {
    const response = await fetch(account.url + path, { headers });
    assert.equal(response.status, 200);
    return response.text();
  };
  await assert.rejects(read(), "the connection breaks off");
});

test("an export that goes on for ever is read no faster than it is taken", async () => {
  const page = JSON.stringify({ items: ["x".repeat(1_000_000)], next_cursor: "more", has_more: true });
  let asked = 0;
  const endless: Handler = (_request, response) => {
    asked++;
    response.setHeader("content-type", "application/json");
    response.end(page);
  };
  held([endless, ...whole.slice(1)]);
  const response = await fetch(account.url + path, { headers: account.person() });
  const reader = response.body?.getReader();
  let megabytes = 0;
  while (megabytes < 20) megabytes += ((await reader?.read())?.value?.length ?? 0) / 1_000_000;
  assert.ok(asked < 20 + 15, `${asked} pages were asked for: more than sockets hold is kept in memory`);
  await reader?.cancel();
});

test("an export works for a disabled account", async () => {
  held(whole);
  const sub = crypto.randomUUID();
  const long = Math.floor(account.context.clock.nowMs() / 1000) - 901;
  const codeOf = async (claims: object) => {
    const { status, body } = await account.send("GET", path, { headers: account.person({ sub, ...claims }) });
    return status === 200 ? "ok" : body.error.details[0].code;
  };
  assert.equal(await codeOf({ scope: "account:read" }), "scope_required");
  assert.equal(await codeOf({ scope: "account:security" }), "scope_required");
  assert.equal(await codeOf({ auth_time: long }), "step_up_required");
  await account.send("POST", "/api/account/status/", {
    headers: account.person({ sub }),
    body: { status: "disabled" },
  });
  assert.equal(await codeOf({}), "ok");
});

test("what a deployment has no service for is named as left out", async () => {
  const alone = await startAccount({ "webhook-delivery.internal-url": elsewhere[2]?.url ?? "" });
  held([away, away, pagesOf([webhookEndpointExample])]);
  const { body } = await alone.send("GET", path, { headers: alone.person() });
  assert.deepEqual([body.left_out, body.webhook_endpoints], [["images", "webhook_sources"], [webhookEndpointExample]]);
  assert.ok(!("images" in body));
  await alone.close();
});
