import { randomUUID } from "node:crypto";
import { readFixture } from "@signalbox/testing";
import {
  type Client,
  type ClientRequest,
  createClient,
  expectStatus,
  githubHeaders,
  photoForm,
} from "../journey/client.ts";
import type { System } from "../systems/system.ts";

/**
 * An operation that clients call often, with the round trips to PostgreSQL that each call may make: what was measured,
 * and a tenth more where workers take part.
 */
export interface HotOperation {
  readonly name: string;
  readonly roundTripsMax: number;
  readonly status: number;
  /** The path and the request of the next call. */
  readonly next: () => readonly [path: string, request: ClientRequest];
}

const secret = "a-secret-of-the-costs-01";
const filling = "x".repeat(900);
const query = "{ viewer { account { id } images(first: 10) { nodes { id } } } }";

/** Prepares what the operations work on, as the owner of the first key. */
export async function prepareHotOperations(
  { baseUrl, apiKey }: Pick<System, "baseUrl" | "apiKey">,
  receiverUrl: string,
): Promise<HotOperation[]> {
  const send = createClient(baseUrl, apiKey);
  await create(send, "/api/v1/webhooks/endpoints", { url: receiverUrl, event_types: ["order.paid"] });
  const pull = await create(send, "/api/v1/webhooks/endpoints", { type: "pull", event_types: ["order.pulled"] });
  const source = { name: "Costs", scheme: "github", secret, forward: false };
  const { ingest_path } = await create(send, "/api/v1/webhooks/sources", source);
  const photo = await readFixture("photo.jpg");
  const { id } = await create(send, "/images", photoForm(photo));
  const content = `/images/${id}/content?width=320&format=jpeg`;
  const etag = expectStatus(await send(content), 200).headers.get("etag") ?? "";
  let names = 0;
  return [
    op("read the account", 1, 200, "/api/account/"),
    op("read the configuration", 0, 200, "/api/v1/config/"),
    op("a query of the graph", 0, 200, "/graphql", () => ({ body: { query } })),
    op("change the account", 24, 200, "/api/account/", () => ({
      method: "PATCH",
      body: { display_name: `Costs ${++names}` },
    })),
    op("show a stored rendition", 0, 200, content),
    op("show a rendition that the client has", 0, 304, content, () => ({ headers: { "if-none-match": etag } })),
    op("accept a webhook", 11, 202, ingest_path, signedWebhook),
    op("publish an event and deliver it", 2, 202, "/api/v1/webhooks/events", () => ({
      body: { type: "order.paid", data: { filling } },
    })),
    op("publish an event to a queue", 6, 202, "/api/v1/webhooks/events", () => ({
      body: { type: "order.pulled", data: { filling } },
    })),
    op("poll a message", 2, 200, `/api/v1/webhooks/endpoints/${pull.id}/messages?limit=1`),
    // Last: renders go on without a statement for longer than any quiet time that would end the measurement.
    op("upload an image", 56, 201, "/images", () => ({
      body: photoForm(Buffer.concat([photo, Buffer.from(randomUUID())])),
    })),
  ];
}

const op = (
  name: string,
  roundTripsMax: number,
  status: number,
  path: string,
  requestOf: () => ClientRequest = () => ({}),
): HotOperation => ({ name, roundTripsMax, status, next: () => [path, requestOf()] });

async function create(send: Client, path: string, body: unknown) {
  return expectStatus(await send(path, { body }), 201).json;
}

function signedWebhook(): ClientRequest {
  const body = Buffer.from(JSON.stringify({ id: randomUUID(), filling }));
  // The sender has no key.
  return { headers: { ...githubHeaders(secret, body), "x-api-key": "" }, body };
}
