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

const basic = /^basic +([A-Za-z0-9+/]+=*)$/i;

/** Reads the client id that a request claims, unverified (RFC 6749 §2.3.1): from its form, or else from Basic. */
export function claimedClientId(inForm: unknown, authorization: string | undefined): string | null {
  if (typeof inForm === "string") return inForm;
  const [, encoded = ""] = basic.exec(authorization ?? "") ?? [];
  const [named = ""] = Buffer.from(encoded, "base64").toString().split(":", 1);
  return named || null;
}

/**
 * Returns the `prompt` of a request for `offline_access` with `consent` in it; null for any other request. Refresh
 * tokens require a request for consent (OpenID Connect Core §11), and here a request for them counts as one.
 */
export function promptWithConsent(scope: unknown = "", prompt: unknown = ""): string | null {
  if (typeof scope !== "string" || typeof prompt !== "string") return null;
  const prompts = prompt.split(" ").filter(Boolean);
  if (!scope.split(" ").includes("offline_access") || prompts.includes("none")) return null;
  return [...new Set([...prompts, "consent"])].join(" ");
}

/**
 * Returns the resources of a request (RFC 8707 §2), ours as its metadata spell it: an address with a trailing slash, or
 * with its host in capitals, is the same one (RFC 3986 §6.2).
 */
export const canonicalResources = (resources: readonly string[], audience: string): readonly string[] =>
  resources.map((resource) => (normalized(resource) === normalized(audience) ? audience : resource));

const normalized = (address: string): string | undefined => URL.parse(address)?.href.replace(/\/$/, "");
