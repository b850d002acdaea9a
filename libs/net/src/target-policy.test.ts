import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { test } from "node:test";
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

test("a public name or address passes, and a name is left to the socket", () => {
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
