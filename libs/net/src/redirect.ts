import type { IncomingHttpHeaders } from "node:http";
import { OutboundError } from "./outbound-error.ts";

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const credentialHeaders: ReadonlySet<string> = new Set(["authorization", "cookie", "proxy-authorization", "x-api-key"]);

interface Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/** The part of a request that a redirect changes. */
interface Redirectable {
  readonly url: URL;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array | null;
}

/** Returns true for a redirect with a location (RFC 9110 §15.4). */
export function isRedirect(status: number, headers: IncomingHttpHeaders): boolean {
  return redirectStatuses.has(status) && typeof headers.location === "string";
}

/**
 * Returns the target of a redirect; null for any other response.
 * @throws OutboundError when the location is no URL
 */
export function redirectTarget(from: URL, { status, headers }: Response): URL | null {
  if (!isRedirect(status, headers)) return null;
  const location = headers.location as string;
  if (!URL.canParse(location, from.href)) {
    throw new OutboundError("response", `${from.host} redirects to an invalid URL.`, { code: "redirect" });
  }
  return new URL(location, from.href);
}

/** Builds the request of the next hop: the method by RFC 9110 §15.4, and no credentials for another origin. */
export function redirectedRequest<R extends Redirectable>(request: R, status: number, url: URL): R {
  const becomesGet = status === 303 || ((status === 301 || status === 302) && request.method === "POST");
  const sameOrigin = url.origin === request.url.origin;
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(([name]) => {
      const lowered = name.toLowerCase();
      if (becomesGet && lowered.startsWith("content-")) return false;
      return sameOrigin || !credentialHeaders.has(lowered);
    }),
  );
  if (!becomesGet) return { ...request, url, headers };
  return { ...request, url, headers, method: request.method === "HEAD" ? "HEAD" : "GET", body: null };
}
