import type { IncomingMessage } from "node:http";
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
