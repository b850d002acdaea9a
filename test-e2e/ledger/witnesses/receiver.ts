import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Receipt } from "../evidence.ts";
import type { Random } from "../random.ts";

export interface LedgerReceiver {
  urlOf(endpoint: string): string;
  /** All receipts since the start, oldest first. */
  readonly receipts: readonly (Receipt & { readonly subject: string })[];
  /** Adds what a consumer took from a pull endpoint. */
  note(receipt: Receipt & { readonly subject: string }): void;
  close(): Promise<void>;
}

const failing = 0.02;
const hanging = 0.01;

/** The receiver of every endpoint: two in a hundred requests are answered 500, one is never answered. */
export async function createLedgerReceiver(random: Random, now: () => number): Promise<LedgerReceiver> {
  const receipts: (Receipt & { subject: string })[] = [];
  const server = createServer(async (request, response) => {
    try {
      const body = await buffer(request);
      const lot = random.next();
      const status = lot < hanging ? 0 : lot < hanging + failing ? 500 : 200;
      receipts.push({ t: now(), status, ...described(request, body) });
      if (status !== 0) response.writeHead(status).end();
    } catch {
      // The sender was killed while it sent.
      response.destroy();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    // By name: a fault takes the look-ups away.
    urlOf: (endpoint) => `http://localhost:${port}/${endpoint}`,
    receipts,
    note: (receipt) => void receipts.push(receipt),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function described({ url = "", headers }: IncomingMessage, bytes: Buffer) {
  const body = bytes.toString("utf8");
  const { data } = JSON.parse(body);
  return {
    body,
    endpoint: url.slice(1),
    eventId: String(headers["webhook-id"]),
    deliveryId: String(headers["x-delivery-id"]),
    type: String(headers["x-event-type"]),
    replay: headers["x-replay-id"] === undefined ? null : String(headers["x-replay-id"]),
    /** The change behind the event, by its writer's name for it. */
    subject: String(data.delivery_id ?? `${data.id} ${data.title}`),
  };
}
