import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { test } from "node:test";
import { createManualClock } from "@signalbox/core";
import { createNameLookup } from "./name-lookup.ts";
import { nonPublicRange } from "./non-public-address.ts";
import { createTargetPolicy } from "./target-policy.ts";

type Options = { requireHttps?: boolean; refusePorts?: () => readonly number[] };

const refusalOf = (url: string, allow: readonly string[] = [], options: Options = {}) =>
  createTargetPolicy({ allow, refusePorts: options.refusePorts }).judgeUrl(url, options)?.code ?? null;

test("every notation of a loopback or private address is checked as that address", () => {
  const hosts = [
    [
      "127.0.0.1",
      "127.1",
      "127.0.1",
      "2130706433",
      "0x7f000001",
      "0x7f.1",
      "0x7f.0x0.0x0.0x1",
      "0177.0.0.1",
      "017700000001",
    ],
    ["127.0.0.1.", "%31%32%37.0.0.1", "１２７.0.0.1", "①②⑦.0.0.1", "127。0。0。1"],
    ["0", "0.0.0.0", "10.1", "0xa9fea9fe", "2852039166", "192.168.257", "255.255.255.255"],
    [
      "[::1]",
      "[::]",
      "[0:0:0:0:0:0:0:1]",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "[::127.0.0.1]",
      "[64:ff9b::7f00:1]",
    ],
    ["[2002:7f00:1::]", "[fe80::1]", "[fd00::1]", "[::ffff:0:127.0.0.1]", "localhost", "LOCALHOST.", "a.localhost"],
  ].flat();
  for (const host of hosts) assert.equal(refusalOf(`https://${host}/hook`), "address", host);
});

test("a public address passes, as does any name, left to the socket", () => {
  for (const url of [
    "https://example.com/hook",
    "https://8.8.8.8:8443/",
    "https://[2606:4700::1111]/",
    "https://intranet/",
  ]) {
    assert.equal(refusalOf(url), null, url);
  }
});

test("credentials, other schemes, relative and broken URLs are refused", () => {
  assert.equal(refusalOf("https://user@example.com/"), "credentials");
  assert.equal(refusalOf("https://:secret@example.com/"), "credentials");
  assert.equal(refusalOf("https://example.com@127.0.0.1/"), "credentials");
  for (const scheme of [
    "ftp://example.com/",
    "file:///etc/passwd",
    "gopher://x/",
    "data:text/plain,x",
    "javascript:1",
  ]) {
    assert.equal(refusalOf(scheme), "scheme", scheme);
  }
  for (const text of [
    "",
    "/hook",
    "example.com",
    "https://",
    "https://[::1",
    "https://1.2.3.4.5.999/",
    "https://a b/",
  ]) {
    assert.equal(refusalOf(text), "malformed", text);
  }
  assert.equal(refusalOf("https://example.com:0/"), "malformed");
});

test("an allow entry opens exactly its address and port", () => {
  const allow = ["127.0.0.1:9000", "[fd00:0::5]:8443"];
  assert.equal(refusalOf("http://127.0.0.1:9000/", allow), null);
  assert.equal(refusalOf("http://2130706433:9000/", allow), null);
  assert.equal(refusalOf("http://localhost:9000/", allow), null);
  assert.equal(refusalOf("https://[fd00::5]:8443/", allow), null);
  assert.equal(refusalOf("http://127.0.0.1:9001/", allow), "address");
  assert.equal(refusalOf("http://127.0.0.2:9000/", allow), "address");
  assert.equal(refusalOf("http://[::ffff:127.0.0.1]:9000/", allow), "address");
  assert.equal(refusalOf("https://[fd00::5]/", allow), "address");
});

test("http passes where https is required only for a target of the allow list", () => {
  const options = { requireHttps: true };
  assert.equal(refusalOf("http://example.com/", [], options), "scheme");
  assert.equal(refusalOf("http://8.8.8.8/", [], options), "scheme");
  assert.equal(refusalOf("http://127.0.0.1:7000/", ["127.0.0.1:*"], options), null);
  assert.equal(refusalOf("http://localhost:7000/", ["127.0.0.1:*"], options), null);
  assert.equal(refusalOf("http://example.com:7000/", ["127.0.0.1:*"], options), "scheme");
});

test("the process's own ports are refused on every address of this machine, allow list or not", () => {
  const policy = createTargetPolicy({ allow: ["127.0.0.1:*", "[::1]:*"], refusePorts: () => [8080] });
  const own = Object.values(networkInterfaces()).flatMap((list) => list?.map((item) => item.address) ?? []);
  for (const address of ["127.0.0.1", "127.9.9.9", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1", ...own]) {
    assert.equal(policy.judgeAddress(address, 8080)?.code, "own_port", address);
  }
  assert.equal(policy.judgeAddress("127.0.0.1", 8081), null);
  assert.equal(policy.judgeAddress("8.8.8.8", 8080), null);
  assert.equal(policy.judgeUrl(new URL("http://localhost:8080/"))?.code, "own_port");
});

test("an allow entry that is a name, a range, or a wildcard beyond loopback is refused with the reason", () => {
  for (const entry of [
    "localhost:80",
    "10.0.0.0/8:80",
    "10.0.0.5:*",
    "10.0.0.5",
    "*:80",
    "10.0.0.5:70000",
    "10.0.0.5:0",
    "",
  ]) {
    assert.throws(() => createTargetPolicy({ allow: [entry] }), RangeError, entry);
  }
});

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

const failing = (code: string) => async () => Promise.reject(Object.assign(new Error(code), { code }));

/** A resolver that counts its queries. */
function resolverOf(answer: { address: string; ttl: number }[], asked = { count: 0 }) {
  const resolve4 = async () => {
    asked.count++;
    return answer;
  };
  return { asked, resolver: { resolve4, resolve6: failing("ENODATA") } as never };
}

test("an answer is cached for its TTL, from a second to a minute", async () => {
  for (const [ttl, kept] of [
    [0, 1],
    [30, 30],
    [86_400, 60],
  ] as const) {
    const clock = createManualClock();
    const { resolver, asked } = resolverOf([{ address: "192.0.2.1", ttl }]);
    const lookup = createNameLookup({ clock, resolver });
    const [found] = await lookup("one.example");
    assert.deepEqual([found?.address, found?.family], ["192.0.2.1", 4]);
    clock.advance(kept * 1000 - 1);
    await lookup("one.example");
    assert.equal(asked.count, 1);
    clock.advance(2);
    await lookup("one.example");
    assert.equal(asked.count, 2);
  }
});

test("a hundred concurrent lookups of one name query the servers once", async () => {
  const { resolver, asked } = resolverOf([{ address: "192.0.2.1", ttl: 10 }]);
  const lookup = createNameLookup({ clock: createManualClock(), resolver });
  await Promise.all(Array.from({ length: 100 }, () => lookup("one.example")));
  assert.equal(asked.count, 1);
});

test("a name unknown to the servers is looked up in the system; one with silent servers is not", async () => {
  const fallback = async () => [{ address: "192.0.2.9", family: 4 }];
  const of = (code: string) => {
    const resolver = { resolve4: failing(code), resolve6: failing(code) } as never;
    return createNameLookup({ clock: createManualClock(), resolver, fallback });
  };
  assert.deepEqual(await of("ENOTFOUND")("hosts.internal"), await fallback());
  await assert.rejects(of("ETIMEOUT")("silent.example"), { stage: "resolve", code: "EAI_AGAIN" });
});
