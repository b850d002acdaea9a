import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";

/** Answers by which an S3 server asks for another try. */
const errors: readonly (readonly [status: number, code: string])[] = [
  [503, "SlowDown"],
  [400, "RequestTimeout"],
  [500, "InternalError"],
];

export interface FailingObjectStore {
  readonly port: number;
  /** Answers every second request by an error, in turn, instead of passing it on. */
  fail(): void;
  pass(): void;
  close(): Promise<void>;
}

/** Passes requests on to an S3 server as they are, until it is told to fail. */
export async function startFailingObjectStore(origin: string): Promise<FailingObjectStore> {
  let isFailing = false;
  let requests = 0;
  const server = createServer((incoming, response) => {
    const [status, code] = errors[(requests++ >> 1) % errors.length] as (typeof errors)[number];
    if (!isFailing || requests % 2 === 0) return void passOn(origin, incoming, response);
    response.writeHead(status, { connection: "close" }).end(`<Error><Code>${code}</Code></Error>`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    fail: () => {
      isFailing = true;
    },
    pass: () => {
      isFailing = false;
    },
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The signature covers the headers, the host among them, so they go on unchanged. */
async function passOn(origin: string, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, headers, url } = incoming;
  try {
    const outgoing = request(`${origin}${url}`, { method, headers });
    const [[answer]] = await Promise.all([
      once(outgoing, "response") as Promise<[IncomingMessage]>,
      pipeline(incoming, outgoing),
    ]);
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    await pipeline(answer, response);
  } catch {
    response.destroy();
  }
}
