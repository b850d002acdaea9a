// Own process: the certificates that a process trusts are read once, at its first connection.
import assert from "node:assert/strict";
import { createSecureServer, type Http2ServerRequest } from "node:http2";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { eventually, testPerson } from "@signalbox/testing";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { endpointsPath, type Harness, startDelivery } from "./harness.ts";
import { trustedPair } from "./trusted-pair.ts";

let delivery: Harness;
let pair: Awaited<ReturnType<typeof trustedPair>>;
before(async () => {
  pair = await trustedPair();
  delivery = await startDelivery({ "webhook-delivery.outbound.http2": "true" });
});
after(() => delivery.close());

interface Received {
  readonly headers: Http2ServerRequest["headers"];
  readonly version: string;
  readonly body: string;
}

/** A receiver on Node's own server that accepts both protocols, and counts HTTP/2 connections. */
async function receive() {
  const requests: Received[] = [];
  let sessions = 0;
  const server = createSecureServer({ ...pair, allowHTTP1: true }, async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    requests.push({ headers: request.headers, version: request.httpVersion, body });
    response.writeHead(200, { "x-reason": "fine" }).end("thanks");
  });
  server.on("session", (session) => {
    sessions++;
    after(() => session.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => server.close());
  return { url: `https://localhost:${(server.address() as AddressInfo).port}/`, requests, sessions: () => sessions };
}

test("a delivery over HTTP/2 is verified and shown like every other", async () => {
  const [who, receiver] = [testPerson(), await receive()];
  const settings = { headers: [{ name: "X-Team", value: "blue", secret: true }] };
  const { id, secret } = await delivery.newEndpoint(who, { url: receiver.url, settings });
  const attempts = [];
  for (let count = 0; count < 2; count++) {
    attempts.push((await delivery.send(who, "POST", `${endpointsPath}/${id}/test`)).body);
  }
  for (const { headers, version, body } of receiver.requests) {
    assert.deepEqual([version, headers["x-team"], headers["content-type"]], ["2.0", "blue", "application/json"]);
    assert.ok(new StandardWebhook(secret).verify(body, headers as Record<string, string>));
  }
  const [first, second] = attempts;
  assert.deepEqual([first.status, first.response, first.request_headers["X-Team"]], [200, "thanks", "***"]);
  assert.deepEqual([first.response_headers["x-reason"], first.response_headers[":status"]], ["fine", undefined]);
  for (const [phase, ms] of Object.entries(first.phases)) assert.ok(typeof ms === "number" && ms >= 0, phase);
  const { resolve, connect, tls } = second.phases;
  assert.deepEqual([resolve, connect, tls, receiver.sessions()], [null, null, null, 1]);
});

test("a hundred deliveries at once share a connection, and each arrives once", async () => {
  const [who, receiver] = [testPerson(), await receive()];
  await delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.*"] });
  const items = Array.from({ length: 100 }, (_, count) => ({ type: "order.created", data: { count } }));
  assert.equal((await delivery.send(who, "POST", "/api/v1/webhooks/events", { body: items })).status, 202);
  await eventually(async () => (await delivery.deliveriesOf(who, "&status=succeeded")).length === 100);
  assert.equal(new Set(receiver.requests.map(({ headers }) => headers["x-delivery-id"])).size, 100);
  assert.deepEqual([receiver.requests.length, receiver.sessions()], [100, 1]);
});
