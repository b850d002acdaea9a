import assert from "node:assert/strict";
import { test } from "node:test";
import { nonPublicRange } from "./non-public-address.ts";

/** First and last address of every non-public range. */
const refused: Record<string, readonly string[]> = {
  "this network": ["0.0.0.0", "0.255.255.255"],
  private: ["10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255"],
  "carrier-grade NAT": ["100.64.0.0", "100.127.255.255"],
  loopback: ["127.0.0.0", "127.255.255.255", "::1"],
  "link-local": ["169.254.0.0", "169.254.169.254", "169.254.255.255", "fe80::", "febf:ffff::1", "fe80::1%eth0"],
  "IETF protocol assignments": ["192.0.0.0", "192.0.0.255", "2001:1::1", "2001:1ff:ffff::1"],
  documentation: [
    "192.0.2.0",
    "192.0.2.255",
    "198.51.100.0",
    "198.51.100.255",
    "203.0.113.0",
    "203.0.113.255",
    "2001:db8::",
    "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
    "3fff::",
    "3fff:fff:ffff::1",
  ],
  "platform of Azure": ["168.63.129.16"],
  "platform of IBM Cloud": ["161.26.0.0", "161.26.255.255", "166.8.0.0", "166.11.255.255"],
  "6to4 relay anycast": ["192.88.99.0", "192.88.99.255"],
  benchmarking: ["198.18.0.0", "198.19.255.255"],
  multicast: ["224.0.0.0", "239.255.255.255", "ff00::", "ff02::1", "ffff::1"],
  "reserved or broadcast": ["240.0.0.0", "255.255.255.255"],
  unspecified: ["::"],
  "IPv4-mapped": ["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:8.8.8.8", "::ffff:a9fe:a9fe"],
  "IPv4-compatible": ["::127.0.0.1", "::8.8.8.8"],
  NAT64: ["64:ff9b::127.0.0.1", "64:ff9b::a00:1"],
  "local NAT64": ["64:ff9b:1::1", "64:ff9b:1:ffff::10.0.0.1"],
  discard: ["100::", "100::ffff:ffff:ffff:ffff"],
  Teredo: ["2001::1", "2001:0:7f00:1::"],
  ORCHID: ["2001:10::1", "2001:1f:ffff::1"],
  ORCHIDv2: ["2001:20::1", "2001:2f:ffff::1"],
  "6to4": ["2002:7f00:1::", "2002:a00:1::1", "2002:c0a8:101::1"],
  "segment routing": ["5f00::", "5f00:ffff::1"],
  "unique local": ["fc00::", "fd12:3456::1", "fdff:ffff::1"],
  "site-local": ["fec0::", "feff::1"],
  ISATAP: ["2a00:1450::5efe:127.0.0.1", "2a00:1450::200:5efe:10.0.0.1", "2607:f8b0:1:2:0:5efe:c0a8:1"],
  "outside global unicast": ["::2:0:0:0:1", "1fff:ffff::1", "4000::1", "8000::1", "e000::1"],
};

for (const [range, addresses] of Object.entries(refused)) {
  test(`addresses of the range "${range}" are not public`, () => {
    for (const address of addresses) assert.equal(nonPublicRange(address), range, address);
  });
}

test("addresses right outside the refused ranges are public", () => {
  const neighbours = [
    ["1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0"],
    ["169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.0.3.0", "192.88.98.255"],
    ["192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255", "203.0.112.255"],
    ["203.0.114.0", "223.255.255.255", "8.8.8.8"],
    ["2001:200::1", "2001:4860:4860::8888", "2001:db7::1", "2001:db9::1", "2003::1", "2606:4700::1111", "3ffe::1"],
    ["2a00:1450::5eff:7f00:1", "2a00:1450::1:5efe:7f00:1"],
  ].flat();
  for (const address of neighbours) assert.equal(nonPublicRange(address), null, address);
});

test("a text that is no address is not public", () => {
  for (const text of ["", "example.com", "127.1", "0x7f000001", "1.2.3.4.5", "[::1]"]) {
    assert.equal(nonPublicRange(text), "not an IP address", text);
  }
});
