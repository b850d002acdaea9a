import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { after, before, it } from "node:test";
import { eventually, startEngine, testContext, testS3 } from "@signalbox/testing";
import { Client } from "minio";
import { objectStoreContract } from "./object-store.contract.ts";
import type { ObjectStore } from "./object-store.ts";
import { openObjectStore } from "./open-object-store.ts";

const { log, logged, runner, close } = testContext("images", {});
const plain = { size: 3, contentType: "text/plain" };
const keys = { accessKey: "signalbox", secretKey: "signalbox-test-secret" };
const away = { name: "AppError", code: "unavailable" };
after(close);

it("a wrong secret is refused as such, not as an outage", async () => {
  const { url, accessKey } = await testS3();
  const store = await openObjectStore({ url, accessKey, secretKey: "wrong", runner, log });
  const refusal = { name: "S3Refusal", status: 403 };
  await assert.rejects(store.put("a/1", Buffer.from("abc"), plain), refusal);
  await assert.rejects(store.get("a/1"), refusal);
  await assert.rejects(store.list("a/", { limit: 1 }), refusal);
  assert.match((await store.health()) ?? "", /403/);
});

it("a presigned URL lets its holder store exactly the announced bytes, under a public origin", async () => {
  const { url, accessKey, secretKey, origin } = await testS3();
  const store = await openObjectStore({ url, accessKey, secretKey, runner, log, publicOrigin: origin });
  const bytes = Buffer.from("abc");
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const terms = { size: 3, contentType: "text/plain", sha256, now: new Date(), expiresInSeconds: 60 };
  const put = (signed: { url: string; headers: Readonly<Record<string, string>> } | undefined, body: string) =>
    fetch(signed?.url ?? "", { method: "PUT", headers: { ...signed?.headers }, body }).then(({ status }) => status);
  const signed = store.presignPut?.("a/1", terms);
  for (const other of ["abcd", "ab", "abd"]) assert.ok((await put(signed, other)) >= 400, other);
  const past = new Date(Date.now() - 120_000);
  assert.equal(await put(store.presignPut?.("a/1", { ...terms, now: past }), "abc"), 403, "expired");
  assert.equal(await store.head("a/1"), null);
  assert.equal(await put(signed, "abc"), 200);
  assert.equal((await store.head("a/1"))?.size, 3);
});

it("a bucket that does not exist is an error, not a missing object", async () => {
  const { url, accessKey, secretKey } = await testS3();
  const store = await openObjectStore({ url: url.replace("/test-", "/none-"), accessKey, secretKey, runner, log });
  await assert.rejects(store.get("a/1"), { code: "NoSuchBucket" });
  assert.notEqual(await store.health(), null);
});

for (const [what, change, said] of [
  ["a bucket that does not exist", { bucket: "none" }, /has no bucket none: create it, or correct blobs\.url$/],
  ["an unknown access key", { accessKey: "nobody" }, /does not know blobs\.access-key: correct it$/],
  ["a wrong secret key", { secretKey: "wrong" }, /refuses blobs\.secret-key: correct it$/],
] as const) {
  it(`a start with ${what} ends at once, naming the property to correct`, async () => {
    const { bucket, ...other } = { bucket: undefined, ...change };
    const given = await testS3();
    const url = bucket ? given.url.replace(/\/test-[^?]*/, `/${bucket}`) : given.url;
    const opening = openObjectStore({ ...given, url, ...other, startWaitMs: 60_000, runner, log });
    await assert.rejects(opening, (error: Error) => {
      assert.match(error.message, said);
      assert.doesNotMatch(error.message, /wrong|nobody/);
      return true;
    });
  });
}

it("a start says that it waits for an unreachable server, unless it may not wait", async () => {
  const engine = await startEngine("s3");
  try {
    const url = await bucketOn(engine.url);
    await engine.kill();
    await assert.rejects(openObjectStore({ url, ...keys, startWaitMs: 0, runner, log }), /did not answer within 0 s/);
    assert.ok(logged.every(({ msg }) => !/^waiting for the object store/.test(String(msg))));
    const opening = openObjectStore({ url, ...keys, startWaitMs: 60_000, runner, log });
    await eventually(() => logged.filter(({ msg }) => /^waiting for the object store/.test(String(msg))).length > 0);
    await engine.restart();
    assert.equal(await (await opening).health(), null);
  } finally {
    await engine.close();
  }
});

it("a large conditional upload over an existing object ends without storing it", async () => {
  const { url, accessKey, secretKey } = await testS3();
  const store = await openObjectStore({ url, accessKey, secretKey, runner, log });
  const { etag } = await store.put("a/1", Buffer.from("abc"), plain);
  const content = randomBytes(16_000_000);
  const source = Readable.from(chunksOf(content));
  const again = await store.put("a/1", source, { size: content.length, contentType: "image/jpeg", ifAbsent: true });
  assert.deepEqual(again, { etag, created: false });
});

it("calls are unavailable only while the server is away", async () => {
  const engine = await startEngine("s3");
  try {
    const store = await openObjectStore({ url: await bucketOn(engine.url), ...keys, runner, log });
    await store.put("a/1", Buffer.from("abc"), plain);
    await engine.kill();
    await assert.rejects(store.get("a/1"), away);
    await assert.rejects(store.put("a/2", Buffer.from("abc"), plain), away);
    await assert.rejects(store.put("a/2", Readable.from(["abc"], { objectMode: false }), plain), away);
    assert.match((await store.health()) ?? "", /does not answer/);
    await engine.restart();
    assert.equal((await buffer((await store.get("a/1"))?.stream ?? Readable.from([]))).toString(), "abc");
    assert.equal(await store.health(), null);
  } finally {
    await engine.close();
  }
});

it("a server that accepts in silence is unavailable after the bound", async () => {
  const silent = createServer(() => {});
  try {
    const url = `s3+http://127.0.0.1:${await listen(silent)}/bucket`;
    const timeouts = { connectMs: 500, silenceMs: 100, readerMs: 100 };
    const store = await openObjectStore({ url, ...keys, runner, log, timeouts });
    await assert.rejects(store.get("a/1"), away);
    await assert.rejects(store.put("a/1", Buffer.from("abc"), plain), away);
  } finally {
    silent.close();
  }
});

it("an aborted read ends although the server says nothing", async () => {
  const abort = new AbortController();
  const silent = createServer(() => abort.abort());
  try {
    const url = `s3+http://127.0.0.1:${await listen(silent)}/bucket`;
    const store = await openObjectStore({ url, ...keys, runner, log });
    await assert.rejects(store.get("a/1", { signal: abort.signal }), { name: "AbortError" });
  } finally {
    silent.close();
  }
});

it("an overloaded server is unavailable, without a word on the console", async (context) => {
  const busy = createHttpServer((request, response) => {
    request.resume();
    response.writeHead(503).end("<Error><Code>SlowDown</Code></Error>");
  });
  const printed = context.mock.method(console, "warn", () => {});
  try {
    const url = `s3+http://127.0.0.1:${await listen(busy)}/bucket`;
    const store = await openObjectStore({ url, ...keys, runner, log });
    await assert.rejects(store.get("a/1"), away);
    await assert.rejects(store.list("a/", { limit: 1 }), away);
    await assert.rejects(store.put("a/1", Buffer.from("abc"), plain), away);
    assert.equal(printed.mock.callCount(), 0);
  } finally {
    busy.close();
  }
});

it("the configuration of a store is checked when it opens", async () => {
  const open = (url: string, secretKey: string | null = "s") =>
    openObjectStore({ url, accessKey: "a", secretKey, runner, log });
  await assert.rejects(open("s3://host"), /must end in one bucket/);
  await assert.rejects(open("s3://host/bucket/folder"), /must end in one bucket/);
  await assert.rejects(open("s3://host/bucket?regoin=x"), /unknown option regoin/);
  await assert.rejects(open("s3://host/bucket", null), /blobs.secret-key/);
});

async function bucketOn(origin: string): Promise<string> {
  const { hostname, port } = new URL(origin);
  const client = new Client({ endPoint: hostname, port: Number(port), useSSL: false, region: "us-east-1", ...keys });
  await client.makeBucket("bucket", "us-east-1");
  return `${origin}/bucket`;
}

function* chunksOf(content: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < content.length; start += 65_536) yield content.subarray(start, start + 65_536);
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
  });
}

let store: ObjectStore;
before(async () => {
  const { url, accessKey, secretKey } = await testS3();
  store = await openObjectStore({ url, accessKey, secretKey, runner, log });
});

objectStoreContract("S3", () => store);
