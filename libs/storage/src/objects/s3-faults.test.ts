import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, afterEach, before, describe, test } from "node:test";
import { testContext } from "@signalbox/testing";
import type { ObjectStore } from "./object-store.ts";
import { openObjectStore } from "./open-object-store.ts";

const { log, runner, close } = testContext("images", {});
const away = { name: "AppError", code: "unavailable" };
const plain = { size: 3, contentType: "text/plain" };
const bytes = () => Readable.from(["abc"], { objectMode: false });

/** An answer of a server that is at fault: a status and an error code, or the end of the connection. */
type Fault = readonly [status: number, code: string] | "cut";

const faults: readonly Fault[] = [
  [400, "RequestTimeout"],
  [500, "InternalError"],
  [503, "SlowDown"],
  [507, "XMinioStorageFull"],
  "cut",
];

describe("an S3 server at fault", () => {
  let server: Server;
  let store: ObjectStore;
  let pending: Fault[] = [];
  let requests = 0;

  before(async () => {
    server = createServer(async (request, response) => {
      requests++;
      const fault = pending.shift();
      if (fault === "cut") return void request.socket.destroy();
      await text(request);
      if (fault) return void response.writeHead(fault[0]).end(`<Error><Code>${fault[1]}</Code></Error>`);
      response.setHeader("etag", '"e"').end(request.method === "PUT" ? "" : answerTo(request));
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const url = `s3+http://127.0.0.1:${(server.address() as AddressInfo).port}/bucket`;
    store = await openObjectStore({ url, accessKey: "key", secretKey: "secret", runner, log });
  });
  afterEach(() => {
    pending = [];
    requests = 0;
  });
  after(async () => {
    await close();
    server.close();
  });

  const reads: readonly (readonly [string, () => Promise<unknown>])[] = [
    ["GET", async () => text((await store.get("a/1"))?.stream ?? bytes())],
    ["HEAD", () => store.head("a/1")],
    ["LIST", () => store.list("a/", { limit: 1 })],
    ["DELETE", () => store.delete("a/1")],
    ["PUT of bytes in memory", () => store.put("a/1", Buffer.from("abc"), plain)],
  ];
  for (const [name, read] of reads) {
    for (const fault of name === "GET" ? faults : faults.slice(0, 1)) {
      test(`is asked again: ${name} answered by ${String(fault)}`, async () => {
        pending = [fault, fault];
        await read();
        assert.equal(requests, 3);
      });
    }

    test(`is unavailable after three tries: ${name}`, async () => {
      pending = faults.slice(0, 4);
      await assert.rejects(read(), away);
      assert.equal(requests, 3);
    });
  }

  for (const fault of faults) {
    test(`is unavailable at once to a stream that can be sent only once: ${String(fault)}`, async () => {
      pending = [fault];
      await assert.rejects(store.put("a/1", bytes(), plain), away);
      assert.equal(requests, 1);
    });
  }

  test("is not asked again by a caller who has left", async () => {
    const abort = new AbortController();
    pending = faults.slice(2);
    const reading = store.get("a/1", { signal: abort.signal });
    server.once("request", (_, response) => response.once("finish", () => abort.abort()));
    await assert.rejects(reading, (error: Error) => error.name === "AbortError" || error.name === "AppError");
    assert.equal(requests, 1);
  });

  test("is unavailable while the clocks differ", async () => {
    pending = [1, 2, 3].map(() => [403, "RequestTimeTooSkewed"]);
    await assert.rejects(store.get("a/1"), away);
  });

  test("is not asked again about what it refuses", async () => {
    pending = [[403, "AccessDenied"]];
    await assert.rejects(store.get("a/1"), { name: "S3Refusal", code: "AccessDenied" });
    assert.equal(requests, 1);
  });

  test("an upload's refusal carries the server's code", async () => {
    pending = [[400, "EntityTooLarge"]];
    await assert.rejects(store.put("a/1", bytes(), plain), { name: "S3Refusal", status: 400, code: "EntityTooLarge" });
  });
});

const answerTo = ({ url = "" }: IncomingMessage): string =>
  url.includes("list-type") ? "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>" : "abc";
