import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { type ClientOptions, createClient } from "../src/client.ts";

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** An answer with JSON; null hangs up; a function writes its own. */
export type Answer =
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly body?: unknown }
  | null
  | ((response: ServerResponse) => unknown);

/** A client of a server whose answers a test decides. Waits of retries are recorded instead of waited. */
export async function openTestClient(
  t: TestContext,
  answer: (received: Received, index: number) => Answer | Promise<Answer>,
  options: Partial<ClientOptions> = {},
) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    const index = received.push({ method, url, headers, body: await buffer(request) }) - 1;
    const chosen = await answer(received[index] as Received, index);
    if (chosen === null) return response.destroy();
    if (typeof chosen === "function") return chosen(response);
    response.writeHead(chosen.status ?? 200, { "content-type": "application/json", ...chosen.headers });
    return response.end(chosen.body === undefined ? "" : JSON.stringify(chosen.body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const waits: number[] = [];
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const retry = { wait: async (ms: number) => void waits.push(ms) };
  const client = createClient({ baseUrl, credential: { apiKey: "sbx_dev_1" }, retry, ...options });
  return { client, received, waits, baseUrl };
}
