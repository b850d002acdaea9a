import { isIP, isIPv4 } from "node:net";

/** An address that may be reached although it is not public; a null `port` stands for every port. */
export interface AllowEntry {
  readonly address: string;
  readonly port: number | null;
}

/**
 * Reads one entry of an allow list: `10.0.0.5:8443`, `[fd00::5]:8443`, or any port of a loopback address,
 * `127.0.0.1:*`.
 * @throws RangeError for any other text; a name is refused, because a resolver would decide what it opens
 */
export function parseAllowEntry(text: string): AllowEntry {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\*|\d{1,5})$/.exec(text.trim());
  const host = match?.[1] ?? match?.[2];
  if (!match || !host) throw new RangeError(`"${text}" is not address:port`);
  if (isIP(host) === 0) throw new RangeError(`"${text}" must start with an IP address, not a name`);
  const address = canonicalAddress(host);
  if (match[3] === "*") {
    if (!isLoopback(address)) throw new RangeError(`"${text}": any port is possible for a loopback address only`);
    return { address, port: null };
  }
  const port = Number(match[3]);
  if (port < 1 || port > 65_535) throw new RangeError(`"${text}": the port must be between 1 and 65535`);
  return { address, port };
}

/** Returns the canonical spelling for comparisons: IPv4 unchanged, IPv6 as in a URL without brackets. */
export function canonicalAddress(address: string): string {
  if (isIPv4(address) || address.includes("%")) return address;
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}

function isLoopback(address: string): boolean {
  return address.startsWith("127.") || address === "::1";
}
