import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import type { Logger } from "@signalbox/runtime";

/** Finds the client address of a request. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * Creates the reader of client addresses. `X-Forwarded-For` is read from the right, as long as the next hop is a
 * trusted proxy: anyone can forge the addresses further left. `onUntrusted` is called for a peer that sends the
 * header without being trusted: a forgotten proxy makes all of its clients one.
 */
export function createClientAddress(
  trustedProxies: readonly string[],
  onUntrusted: (peer: string) => void = () => {},
): ClientAddress {
  const trusted = networks(trustedProxies);
  const isTrusted = (address: string): boolean => {
    const family = isIP(address);
    return family !== 0 && trusted.check(address, family === 6 ? "ipv6" : "ipv4");
  };
  return (request) => {
    let address = plain(request.socket.remoteAddress ?? "");
    if (!isTrusted(address)) {
      if (request.headers["x-forwarded-for"] !== undefined) onUntrusted(address);
      return address;
    }
    const hops = String(request.headers["x-forwarded-for"] ?? "").split(",");
    for (const hop of hops.reverse()) {
      const next = plain(withoutPort(hop.trim()));
      if (isIP(next) === 0) break;
      address = next;
      if (!isTrusted(address)) break;
    }
    return address;
  };
}

const peersMax = 100;

/** Warns once of each peer, and of at most a hundred. */
export function warnOfPeers(log: Logger): (peer: string) => void {
  const reported = new Set<string>();
  return (peer) => {
    if (reported.has(peer) || reported.size >= peersMax) return;
    reported.add(peer);
    log.warn({ peer }, "X-Forwarded-For from a peer that is not in http.trusted-proxies is ignored");
  };
}

/** Returns the key under which anonymous requests are counted: an IPv6 customer has a whole /64 of addresses. */
export function addressBucket(address: string): string {
  // Tries IPv4 first, which is quick to recognize.
  if (isIP(address) !== 6) return address;
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const rest = tail === "" ? [] : tail.split(":");
    while (groups.length + rest.length < 8) groups.push("0");
    groups.push(...rest);
  }
  return `${groups.slice(0, 4).join(":")}::/64`;
}

/** Some proxies add the port: `192.0.2.1:1234`, `[2001:db8::1]:443` (RFC 7239 §6). */
const withoutPort = (hop: string): string =>
  hop.replace(/^\[([^\]]*)\](:\d+)?$/, "$1").replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1");

/** Returns the plain address: `::ffff:192.0.2.1` is 192.0.2.1, and a zone is dropped. */
function plain(address: string): string {
  const bare = address.replace(/%.*$/, "");
  return bare.startsWith("::ffff:") && bare.includes(".") ? bare.slice(7) : bare;
}

/** Parses addresses and networks. @throws Error naming the invalid entry. */
function networks(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", bits] = entry.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (isIP(address) === 0) throw new Error(`http.trusted-proxies: ${entry} is neither an address nor a network`);
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/**
 * The pages of other origins that may read our answers in a browser. Credentials travel in headers, so no cookie is at
 * stake.
 */
export interface Cors {
  /** Returns the value of `Access-Control-Allow-Origin`; null when the browser must keep the answer from the page. */
  allowedOrigin(origin: string | undefined, isAnonymousRoute: boolean): string | null;
  /** True when answers differ by the requesting origin, which caches must know. */
  readonly varies: boolean;
}

/** Headers of an answer that a page may read besides the standard ones. */
export const exposedHeaders =
  "ETag, Location, RateLimit, RateLimit-Policy, Retry-After, Upload-Complete, Upload-Length, Upload-Offset, X-Request-Id";

/** Creates the rules of `http.cors.origins`. `*` lets every page read public answers. */
export function createCors(origins: readonly string[]): Cors {
  const exact = new Set(origins.filter((origin) => origin !== "*"));
  const anyOrigin = origins.includes("*");
  return {
    varies: exact.size > 0,
    allowedOrigin(origin, isAnonymousRoute) {
      // Even without an origin: a cache may serve this answer to a page later.
      if (anyOrigin && isAnonymousRoute) return "*";
      return origin !== undefined && exact.has(origin) ? origin : null;
    },
  };
}
