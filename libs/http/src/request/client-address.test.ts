import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import test from "node:test";
import { addressBucket, createClientAddress, warnOfPeers } from "./client-address.ts";

const from = (remoteAddress: string, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: { "x-forwarded-for": forwarded } }) as unknown as IncomingMessage;

test("without trusted proxies no client can choose its address", () => {
  const addressOf = createClientAddress([]);
  assert.equal(addressOf(from("203.0.113.9", "198.51.100.1")), "203.0.113.9");
});

test("forwarded addresses count up to the first one that no trusted proxy added", () => {
  const addressOf = createClientAddress(["10.0.0.0/8", "2001:db8::/32"]);
  const cases: readonly [string, string | undefined, string][] = [
    ["10.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["10.0.0.1", "6.6.6.6, 198.51.100.1, 10.2.3.4", "198.51.100.1"],
    ["10.0.0.1", "6.6.6.6, rubbish, 10.2.3.4", "10.2.3.4"],
    ["10.0.0.1", undefined, "10.0.0.1"],
    ["10.0.0.1", "", "10.0.0.1"],
    ["::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["2001:db8::1", "2001:4860::5", "2001:4860::5"],
    ["203.0.113.9", "198.51.100.1", "203.0.113.9"],
  ];
  for (const [remote, forwarded, expected] of cases)
    assert.equal(addressOf(from(remote, forwarded)), expected, forwarded);
});

test("a peer that forwards without being trusted is reported once", () => {
  const warned: unknown[] = [];
  const addressOf = createClientAddress(
    ["10.0.0.0/8"],
    warnOfPeers({ warn: (fields: unknown) => void warned.push(fields) }),
  );
  for (const forwarded of ["198.51.100.1", "198.51.100.2", undefined]) addressOf(from("203.0.113.9", forwarded));
  addressOf(from("10.0.0.1", "198.51.100.1"));
  assert.deepEqual(warned, [{ peer: "203.0.113.9" }]);
});

test("an invalid proxy entry stops the start and is named", () => {
  assert.throws(() => createClientAddress(["proxy.internal"]), /http\.trusted-proxies: proxy\.internal/);
});

test("all addresses of an IPv6 /64 count as one customer", () => {
  assert.equal(addressBucket("2001:db8:1:2:aaaa:bbbb:cccc:dddd"), "2001:db8:1:2::/64");
  assert.equal(addressBucket("2001:db8:1:2::1"), "2001:db8:1:2::/64");
  assert.equal(addressBucket("2001:db8::1"), "2001:db8:0:0::/64");
  assert.equal(addressBucket("::1"), "0:0:0:0::/64");
  assert.equal(addressBucket("192.0.2.1"), "192.0.2.1");
});
