import { IncomingMessage } from "node:http";
import { KiB } from "@signalbox/core";

/** The limit of the provider itself. */
const bytesMax = 56 * KiB;

/** Reads the whole body of a small form; null for a larger one, whose rest stays unread. */
export async function readFormBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let received = 0;
  // Otherwise the connection would close before the client gets the refusal.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    received += chunk.length;
    if (received > bytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, received);
}

/** Returns true for the content type of a form. */
export function isForm({ headers }: IncomingMessage): boolean {
  const [type = ""] = (headers["content-type"] ?? "").split(";", 1);
  return type.trim().toLowerCase() === "application/x-www-form-urlencoded";
}

/** Copies a request with another body, because the original body was consumed. */
export function withBody(request: IncomingMessage, body: Buffer): IncomingMessage {
  const copy = new IncomingMessage(request.socket);
  const { "transfer-encoding": _chunked, ...headers } = request.headers;
  copy.headers = { ...headers, "content-length": String(body.length) };
  copy.method = request.method;
  copy.url = request.url;
  // Otherwise its end would look like a broken connection.
  copy.complete = true;
  copy.push(body);
  copy.push(null);
  return copy;
}
