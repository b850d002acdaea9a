import { randomUUID } from "node:crypto";
import { createClient, expectStatus, githubHeaders } from "../test-e2e/journey/client.ts";
import type { PacedRequest } from "./paced-load.ts";

const secret = "a-secret-of-the-bench-01";
const filling = "x".repeat(900);
const query =
  "{ viewer { account { id } images(first: 10) { nodes { id } } webhookEndpoints(first: 10) { nodes { id } } } }";

/** One door of the system and a request to it. */
export interface Door {
  readonly name: string;
  readonly path: string;
  readonly next: () => PacedRequest;
}

/** Creates an endpoint and a source, and describes the requests that are made later. */
export async function openDoors(
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
