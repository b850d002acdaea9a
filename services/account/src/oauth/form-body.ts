import { IncomingMessage } from "node:http";
import { KiB } from "@signalbox/core";

/** As much as the provider itself takes. */
const bytesMax = 56 * KiB;

/** Reads the whole body of a small form; null for a larger one, whose rest is not read. */
export async function readFormBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let received = 0;
  // Else the connection would be gone before it is told why.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    received += chunk.length;
    if (received > bytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, received);
}

/** Says that the body is what a form sends. */
export function isForm({ headers }: IncomingMessage): boolean {
  const [type = ""] = (headers["content-type"] ?? "").split(";", 1);
  return type.trim().toLowerCase() === "application/x-www-form-urlencoded";
}

/** Copies a request with another body. The one that came has been read. */
export function withBody(request: IncomingMessage, body: Buffer): IncomingMessage {
  const copy = new IncomingMessage(request.socket);
  const { "transfer-encoding": _chunked, ...headers } = request.headers;
  copy.headers = { ...headers, "content-length": String(body.length) };
  copy.method = request.method;
  copy.url = request.url;
  // Else its end would be taken for a connection that broke.
  copy.complete = true;
  copy.push(body);
  copy.push(null);
  return copy;
}
