import { BlockList, isIPv4, isIPv6 } from "node:net";

type Range = readonly [prefix: string, bits: number, name: string];

/** IANA IPv4 Special-Purpose Address Registry (RFC 6890 and later), and the classes without hosts. */
const ipv4Ranges: readonly Range[] = [
  ["0.0.0.0", 8, "this network"],
  ["10.0.0.0", 8, "private"],
  ["100.64.0.0", 10, "carrier-grade NAT"],
  ["127.0.0.0", 8, "loopback"],
  ["169.254.0.0", 16, "link-local"],
  ["172.16.0.0", 12, "private"],
  ["192.0.0.0", 24, "IETF protocol assignments"],
  ["192.0.2.0", 24, "documentation"],
  ["192.88.99.0", 24, "6to4 relay anycast"],
  ["192.168.0.0", 16, "private"],
  ["198.18.0.0", 15, "benchmarking"],
  ["198.51.100.0", 24, "documentation"],
  ["203.0.113.0", 24, "documentation"],
  ["224.0.0.0", 4, "multicast"],
  ["240.0.0.0", 4, "reserved or broadcast"],
];

/** IANA IPv6 Special-Purpose Address Registry. Everything outside 2000::/3 is refused too, listed here or not. */
const ipv6Ranges: readonly Range[] = [
  ["::", 128, "unspecified"],
  ["::1", 128, "loopback"],
  ["::ffff:0:0", 96, "IPv4-mapped"],
  ["::", 96, "IPv4-compatible"],
  ["64:ff9b::", 96, "NAT64"],
  ["64:ff9b:1::", 48, "local NAT64"],
  ["100::", 64, "discard"],
  ["2001::", 32, "Teredo"],
  ["2001:10::", 28, "ORCHID"],
  ["2001:20::", 28, "ORCHIDv2"],
  ["2001::", 23, "IETF protocol assignments"],
  ["2001:db8::", 32, "documentation"],
  ["2002::", 16, "6to4"],
  ["3fff::", 20, "documentation"],
  ["5f00::", 16, "segment routing"],
  ["fc00::", 7, "unique local"],
  ["fe80::", 10, "link-local"],
  ["fec0::", 10, "site-local"],
  ["ff00::", 8, "multicast"],
];

/**
 * Public addresses that a cloud routes to its own platform inside its networks: the agent and name servers of Azure, the
 * service endpoints of IBM Cloud. No registry names them. The other large providers keep theirs in 169.254.0.0/16,
 * 100.64.0.0/10 and fc00::/7.
 */
const platformAddresses: readonly Range[] = [
  ["168.63.129.16", 32, "platform of Azure"],
  ["161.26.0.0", 16, "platform of IBM Cloud"],
  ["166.8.0.0", 14, "platform of IBM Cloud"],
];

const ipv4Refused = [...platformAddresses, ...ipv4Ranges];
const ipv4NonPublic = blockListOf(ipv4Refused, "ipv4");
const ipv6NonPublic = blockListOf(ipv6Ranges, "ipv6");
// Built once: building a list takes longer than a check, and an allowed address of a private network is checked for
// every delivery.
const ipv4ByName = ipv4Refused.map((range) => ({ name: range[2], list: blockListOf([range], "ipv4") }));
const ipv6ByName = ipv6Ranges.map((range) => ({ name: range[2], list: blockListOf([range], "ipv6") }));
const ipv6GlobalUnicast = blockListOf([["2000::", 3, "global unicast"]], "ipv6");

/**
 * Returns the name of the non-public range that contains `address`, or null for a public address. A text that is no IP
 * address counts as non-public: a caller that passes a name has skipped the resolver.
 */
export function nonPublicRange(address: string): string | null {
  if (isIPv4(address)) {
    return ipv4NonPublic.check(address, "ipv4") ? rangeName(address, ipv4ByName, "ipv4") : null;
  }
  if (!isIPv6(address)) return "not an IP address";
  // A zone index makes sense on this link only.
  if (address.includes("%")) return "link-local";
  if (ipv6NonPublic.check(address, "ipv6")) return rangeName(address, ipv6ByName, "ipv6");
  if (!ipv6GlobalUnicast.check(address, "ipv6")) return "outside global unicast";
  return isIsatap(address) ? "ISATAP" : null;
}

/** Returns the eight 16-bit words of an IPv6 address. */
function ipv6Words(address: string): number[] {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = "", tail] = canonical.split("::");
  const words = (text: string) => (text === "" ? [] : text.split(":").map((word) => Number.parseInt(word, 16)));
  const left = words(head);
  const right = tail === undefined ? [] : words(tail);
  return [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
}

/**
 * Detects ISATAP (RFC 5214 §6.1): the interface identifier 0000:5efe or 0200:5efe carries an IPv4 address under any
 * prefix.
 */
function isIsatap(address: string): boolean {
  const words = ipv6Words(address);
  return ((words[4] as number) & 0xfdff) === 0 && words[5] === 0x5efe;
}

function blockListOf(ranges: readonly Range[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const [prefix, bits] of ranges) list.addSubnet(prefix, bits, family);
  return list;
}

function rangeName(address: string, ranges: typeof ipv4ByName, family: "ipv4" | "ipv6"): string {
  return ranges.find(({ list }) => list.check(address, family))?.name ?? "non-public";
}
