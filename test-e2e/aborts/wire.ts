import { randomBytes } from "node:crypto";
import { rawRequest } from "../attacks/runner/raw-exchange.ts";
import type { Attempt } from "../audit/recipes/attempt.ts";

/** A request that would succeed, or wait. */
export interface Target {
  readonly name: string;
  make(): Promise<Attempt>;
}

/** A request as its bytes on the wire. */
export interface WireRequest {
  readonly head: Buffer;
  readonly body: Buffer;
}

/** Writes a request as a client would send it. */
export async function wireRequest({ by, path, request }: Attempt, extra: readonly string[] = []): Promise<WireRequest> {
  const { method, headers = {}, body } = request;
  const form = body instanceof FormData ? new Response(body) : null;
  const sent = form ? Buffer.from(await form.arrayBuffer()) : bytesOf(body);
  const type = form?.headers.get("content-type") ?? "application/json";
  const lines = {
    host: "127.0.0.1",
    ...(body !== undefined && { "content-type": type, "content-length": String(sent.length) }),
    ...headers,
    ...by,
  };
  const line = `${method ?? (body === undefined ? "GET" : "POST")} ${path}`;
  const head = rawRequest(line, [...Object.entries(lines).map(([name, value]) => `${name}: ${value}`), ...extra]);
  return { head: Buffer.from(head, "latin1"), body: sent };
}

function bytesOf(body: unknown): Buffer {
  if (body === undefined) return Buffer.alloc(0);
  return body instanceof Buffer ? body : Buffer.from(JSON.stringify(body));
}

/** The opening of a WebSocket for subscriptions. */
export const socketOpening: Buffer = Buffer.from(
  rawRequest("GET /graphql", [
    "Host: 127.0.0.1",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: c2lnbmFsYm94LXNvY2tldA==",
    "Sec-WebSocket-Protocol: graphql-transport-ws",
  ]),
);

/** A request for a tunnel, which no service opens. */
export const tunnelOpening: Buffer = Buffer.from(rawRequest("CONNECT 127.0.0.1:80", ["Host: 127.0.0.1:80"]));

/** Frames a message of a WebSocket client (RFC 6455, 5.2). */
export function frameOf(message: unknown): Buffer {
  const payload = Buffer.from(JSON.stringify(message));
  const [mask, isShort] = [randomBytes(4), payload.length < 126];
  const head = Buffer.alloc(isShort ? 2 : 4);
  head[0] = 0x81;
  head[1] = 0x80 | (isShort ? payload.length : 126);
  if (!isShort) head.writeUInt16BE(payload.length, 2);
  const masked = payload.map((byte, at) => byte ^ (mask[at % 4] as number));
  return Buffer.concat([head, mask, masked]);
}
