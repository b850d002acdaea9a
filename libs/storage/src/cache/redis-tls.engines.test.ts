import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import {
  createCertificates,
  eventually,
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
  const port = String(await freePort());
  const admin = new Redis(engine.url);
  await admin.call("CONFIG", "SET", ...filesOf(certificates), "tls-auth-clients", "no", "tls-port", port);
  await admin.call("ACL", "SETUSER", "signalbox", "on", ">redis-password", "~*", "&*", "+@all");
  admin.disconnect();
  url = `rediss://signalbox:redis-password@localhost:${port}/0`;
});
after(async () => {
  await context.close();
  await engine.close();
  await certificates.remove();
});

const filesOf = ({ certFile, keyFile }: Pick<TestCertificates, "certFile" | "keyFile">) =>
  ["tls-cert-file", certFile, "tls-key-file", keyFile, "tls-ca-cert-file", certificates.caFile] as const;

it("a server with TLS and a password is used when its authority is trusted", async () => {
  const cache = await openCache({ url, caFile: certificates.caFile, ...context });
  await cache.set("key", "value", { expiresInMs: 60_000 });
  assert.equal(String(await cache.get("key")), "value");
  const other = await openCache({ url, caFile: certificates.caFile, ...context });
  assert.equal(String(await other.get("key")), "value", "both see the server's value");
});

it("a server with an untrusted certificate counts as away", async () => {
  for (const caFile of [null, certificates.otherCaFile]) {
    const cache = await openCache({ url, caFile, ...context });
    await cache.set("other", "value", { expiresInMs: 60_000 });
    assert.equal(await cache.get("other"), null);
  }
  assert.ok(context.logged.some((line) => /self-signed|certificate/.test(JSON.stringify(line))));
});

it("a server whose certificate expired counts as away, until it shows a renewed one", async () => {
  const admin = new Redis(engine.url);
  const show = async (endsAt: Date) =>
    admin.call("CONFIG", "SET", ...filesOf(await certificates.issue("localhost", { endsAt })));
  await show(new Date(Date.now() - 60_000));
  const cache = await openCache({ url, caFile: certificates.caFile, ...context });
  await cache.set("later", "value", { expiresInMs: 60_000 });
  assert.equal(await cache.get("later"), null);
  await show(new Date(Date.now() + 86_400_000));
  admin.disconnect();
  const isKept = async () => {
    await cache.set("later", "value", { expiresInMs: 60_000 });
    return String(await cache.get("later")) === "value";
  };
  await eventually(isKept, { message: "the renewed certificate is accepted" });
});
