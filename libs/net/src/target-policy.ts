import { isIP, isIPv4 } from "node:net";
import { networkInterfaces } from "node:os";
import { nonPublicRange } from "./non-public-address.ts";

/** An address that may be reached although it is not public; a null `port` stands for every port. */
interface AllowEntry {
  readonly address: string;
  readonly port: number | null;
}

/**
 * Reads one entry of an allow list: `10.0.0.5:8443`, `[fd00::5]:8443`, or any port of a loopback address,
 * `127.0.0.1:*`.
 * @throws RangeError for any other text; a name is refused, because a resolver would decide what it opens
 */
function parseAllowEntry(text: string): AllowEntry {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\*|\d{1,5})$/.exec(text.trim());
  const host = match?.[1] ?? match?.[2];
  if (!match || !host) throw new RangeError(`"${text}" is not address:port`);
  if (isIP(host) === 0) throw new RangeError(`"${text}" must start with an IP address, not a name`);
  const address = canonicalAddress(host);
  if (match[3] === "*") {
    if (!isLoopback(address)) throw new RangeError(`"${text}": a wildcard port is only allowed for a loopback address`);
    return { address, port: null };
  }
  const port = Number(match[3]);
  if (port < 1 || port > 65_535) throw new RangeError(`"${text}": the port must be between 1 and 65535`);
  return { address, port };
}

/** Returns the canonical spelling for comparisons: IPv4 unchanged, IPv6 as in a URL without brackets. */
function canonicalAddress(address: string): string {
  if (isIPv4(address) || address.includes("%")) return address;
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}

function isLoopback(address: string): boolean {
  return address.startsWith("127.") || address === "::1";
}

/** Reason why a URL or an address is refused. `message` names the caller's own text, never an answer of a resolver. */
export interface TargetProblem {
  readonly code: "malformed" | "scheme" | "credentials" | "address" | "own_port";
  readonly message: string;
}

/** Policy of one use of the network. Each use has its own; connections are never shared between two uses. */
export interface TargetPolicy {
  /** Checks everything about a URL that needs no resolver, for any text. Returns null for an acceptable URL. */
  judgeUrl(url: string | URL, options?: { requireHttps?: boolean }): TargetProblem | null;
  /** Checks the address that a connection is about to use. */
  judgeAddress(address: string, port: number): TargetProblem | null;
  /**
   * Returns the loopback addresses that `localhost` may stand for on this port. RFC 6761 §6.3 keeps the name away from
   * resolvers.
   */
  localhostAddresses(port: number): readonly string[];
}

interface TargetPolicyOptions {
  readonly allow: readonly string[];
  /** Ports that this process listens on. They are refused on its own addresses, even if the list allows them. */
  readonly refusePorts?: (() => readonly number[]) | undefined;
}

/**
 * Creates the policy of one use.
 * @throws RangeError for an entry that cannot be read
 */
export function createTargetPolicy({ allow, refusePorts = () => [] }: TargetPolicyOptions): TargetPolicy {
  const entries = allow.map(parseAllowEntry);

  function judgeAddress(address: string, port: number): TargetProblem | null {
    const range = nonPublicRange(address);
    if (refusePorts().includes(port) && isOwnAddress(address, range)) {
      return { code: "own_port", message: "The URL leads back to this service." };
    }
    if (range === null || isAllowed(entries, address, port)) return null;
    return { code: "address", message: `The address is not public (${range}).` };
  }

  function localhostAddresses(port: number): readonly string[] {
    return ["127.0.0.1", "::1"].filter((address) => judgeAddress(address, port) === null);
  }

  function judgeHost(hostname: string, port: number): TargetProblem | null {
    if (isIP(hostname) !== 0) return judgeAddress(hostname, port);
    if (!isLocalhost(hostname) || localhostAddresses(port).length > 0) return null;
    return judgeAddress("127.0.0.1", port);
  }

  return {
    judgeAddress,
    localhostAddresses,
    judgeUrl(text, options = {}) {
      if (typeof text === "string" && !URL.canParse(text))
        return { code: "malformed", message: "This is not an absolute URL." };
      const url = new URL(text);
      if (url.protocol !== "https:" && url.protocol !== "http:") {
        return { code: "scheme", message: `The scheme must be https, not ${url.protocol.slice(0, -1)}.` };
      }
      if (url.username !== "" || url.password !== "") {
        return { code: "credentials", message: "The URL must not contain a user name or a password." };
      }
      const port = portOf(url);
      if (port === 0) return { code: "malformed", message: "Port 0 cannot be reached." };
      const hostname = hostnameOf(url);
      const problem = judgeHost(hostname, port);
      if (problem) return problem;
      if (options.requireHttps && url.protocol === "http:" && !isListed(entries, hostname, port)) {
        return { code: "scheme", message: "The scheme must be https." };
      }
      return null;
    },
  };
}

/** Returns the host of a URL for a resolver or a socket: IPv6 without its brackets. */
function hostnameOf(url: URL): string {
  return url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
}

/** Returns the port of a URL; without one, the default of the scheme. */
function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}

/** Returns true for the names that RFC 6761 §6.3 gives to the loopback interface. */
export function isLocalhost(hostname: string): boolean {
  return /(^|\.)localhost\.?$/i.test(hostname);
}

function isListed(entries: readonly AllowEntry[], hostname: string, port: number): boolean {
  if (isLocalhost(hostname)) return isAllowed(entries, "127.0.0.1", port) || isAllowed(entries, "::1", port);
  return isIP(hostname) !== 0 && isAllowed(entries, hostname, port);
}

function isAllowed(entries: readonly AllowEntry[], address: string, port: number): boolean {
  if (entries.length === 0) return false;
  const canonical = canonicalAddress(address);
  return entries.some((entry) => entry.address === canonical && (entry.port === null || entry.port === port));
}

function isOwnAddress(address: string, range: string | null): boolean {
  if (range === "loopback" || range === "this network" || range === "unspecified" || range === "IPv4-mapped")
    return true;
  const canonical = canonicalAddress(address);
  return Object.values(networkInterfaces()).some((list) =>
    list?.some((item) => canonicalAddress(item.address) === canonical),
  );
}
