import { randomUUID } from "node:crypto";
import { createReceiver } from "@signalbox/testing";
import { createClient, expectStatus, githubHeaders } from "../test-e2e/journey/client.ts";
import { newDataDirectory, removeData, startEmbeddedSystem } from "../test-e2e/systems/embedded-system.ts";
import { percentile, rounded } from "./bench-parts.ts";
import { type BenchResult, most } from "./history.ts";
import { type PacedRequest, pacedLoad } from "./paced-load.ts";

/** Below every limit of one account, together. */
const perSecond = 40;
const seconds = 60;
const connections = 16;
const secret = "a-secret-of-the-bench-01";
const filling = "x".repeat(900);
const query =
  "{ viewer { account { id } images(first: 10) { nodes { id } } webhookEndpoints(first: 10) { nodes { id } } } }";

/** One door of the system and a request to it. */
interface Door {
  readonly name: string;
  readonly path: string;
  readonly next: () => PacedRequest;
}

/** The first minute after a start on existing data, and the minute after it, of the same requests. */
export async function run(): Promise<BenchResult> {
  await using opened = new AsyncDisposableStack();
  const receiver = await createReceiver();
  opened.defer(() => receiver.close());
  const dataDirectory = await newDataDirectory();
  const properties = { "webhook-delivery.outbound.allow": `127.0.0.1:${receiver.port}`, "log.level": "warn" };
  const start = () => startEmbeddedSystem({ dataDirectory, properties });
  opened.defer(() => removeData({ dataDirectory }));
  const first = await start();
  const doors = await openDoors(first, receiver.url);
  await first.stop();
  const second = await start();
  opened.defer(async () => void (await second.process.kill()));
  const minute = () =>
    Promise.all(
      doors.map(async ({ path, next }) =>
        percentile(await pacedLoad({ url: second.baseUrl + path, perSecond, seconds, connections, next }), 0.99),
      ),
    );
  const cold = await minute();
  const warm = await minute();
  const times = doors.map(({ name }, at) => ({ name, coldMs: rounded(cold[at] ?? 0), warmMs: rounded(warm[at] ?? 0) }));
  return {
    rows: times.map(({ name, coldMs, warmMs }) => ({ what: name, "first minute, p99": coldMs, "second, p99": warmMs })),
    figures: times.map(({ name, coldMs, warmMs }) =>
      most(`p99 of the first minute, times warm: ${name}`, 2, rounded(coldMs / warmMs), "", `warm ${warmMs} ms`),
    ),
  };
}

/** Creates an endpoint and a source, and describes the requests that are made later. */
async function openDoors(
  { baseUrl, apiKey }: { readonly baseUrl: string; readonly apiKey: string },
  receiverUrl: string,
): Promise<Door[]> {
  const send = createClient(baseUrl, apiKey);
  const endpoint = { url: receiverUrl, event_types: ["order.paid", "received.github.*"] };
  expectStatus(await send("/api/v1/webhooks/endpoints", { body: endpoint }), 201);
  const source = { name: "Bench", scheme: "github", secret };
  const { ingest_path } = expectStatus(await send("/api/v1/webhooks/sources", { body: source }), 201).json;
  const headers = { "x-api-key": apiKey, "content-type": "application/json" };
  const post = (body: string) => ({ method: "POST", headers, body }) as const;
  return [
    {
      name: "publish",
      path: "/api/v1/webhooks/events",
      next: () => post(JSON.stringify({ id: randomUUID(), type: "order.paid", data: { filling } })),
    },
    { name: "ingest", path: ingest_path, next: () => signedWebhook() },
    { name: "GraphQL", path: "/graphql", next: () => post(JSON.stringify({ query })) },
  ];
}

function signedWebhook(): PacedRequest {
  const body = JSON.stringify({ id: randomUUID(), filling });
  return { method: "POST", headers: githubHeaders(secret, body), body };
}
