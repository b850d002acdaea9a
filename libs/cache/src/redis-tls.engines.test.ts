import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import {
  createCertificates,
  freePort,
  type OwnEngine,
  startEngine,
  type TestCertificates,
  testContext,
} from "@signalbox/testing";
import { Redis } from "ioredis";
import { openCache } from "./open-cache.ts";

const context = testContext("images", {});
let engine: OwnEngine;
let certificates: TestCertificates;
let url: string;

before(async () => {
  certificates = await createCertificates();
  engine = await startEngine("redis");
  const { certFile, keyFile, caFile } = certificates;
  const port = String(await freePort());
  const admin = new Redis(engine.url);
  const files = ["tls-cert-file", certFile, "tls-key-file", keyFile, "tls-ca-cert-file", caFile] as const;
  await admin.call("CONFIG", "SET", ...files, "tls-auth-clients", "no", "tls-port", port);
  await admin.call("ACL", "SETUSER", "signalbox", "on", ">redis-password", "~*", "&*", "+@all");
  admin.disconnect();
  url = `rediss://signalbox:redis-password@localhost:${port}/0`;
});
after(async () => {
  await context.close();
  await engine.close();
  await certificates.remove();
});

it("a server with TLS and a password is used when its authority is trusted", async () => {
  const cache = await openCache({ url, caFile: certificates.caFile, ...context });
  await cache.set("key", "value", { expiresInMs: 60_000 });
  assert.equal(String(await cache.get("key")), "value");
  const other = await openCache({ url, caFile: certificates.caFile, ...context });
  assert.equal(String(await other.get("key")), "value", "both see the server's value");
});

it("a server with an untrusted certificate counts as away, and receives no password", async () => {
  for (const caFile of [null, certificates.otherCaFile]) {
    const cache = await openCache({ url, caFile, ...context });
    await cache.set("other", "value", { expiresInMs: 60_000 });
    assert.equal(await cache.get("other"), null);
  }
  assert.ok(context.logged.some((line) => /self-signed|certificate/.test(JSON.stringify(line))));
});
