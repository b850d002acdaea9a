import { isIP, isIPv4 } from "node:net";

/** One address that a use may reach although it is not public; `port` null stands for every port. */
export interface AllowEntry {
  readonly address: string;
  readonly port: number | null;
}

/**
 * Reads one entry of an allow list: `10.0.0.5:8443`, `[fd00::5]:8443`, or any port of a loopback address, `127.0.0.1:*`.
 * Throws a RangeError that says what is wrong: a name is no entry, since it is the resolver that would decide what it opens.
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

/** The one spelling that addresses are compared in: IPv4 as it is, IPv6 as a URL shows it, without brackets. */
export function canonicalAddress(address: string): string {
  if (isIPv4(address) || address.includes("%")) return address;
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}

function isLoopback(address: string): boolean {
  return address.startsWith("127.") || address === "::1";
}
