import assert from "node:assert/strict";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, it } from "node:test";
import { ContentMismatch, type ObjectStore, type PutOptions, UnsatisfiableRange } from "./object-store.ts";

const bytes = Buffer.from("0123456789");
const plain = { size: bytes.length, contentType: "text/plain" };
const sha256 = (content: Uint8Array) => createHash("sha256").update(content).digest("hex");
const freshKey = () => `contract/${randomUUID()}/object.bin`;

/** The promises of every adapter. `store` is called in each test, so that a suite may open it in `before`. */
export function objectStoreContract(adapter: string, store: () => ObjectStore): void {
  const read = async (key: string, options?: Parameters<ObjectStore["get"]>[1]) => {
    const found = await store().get(key, options);
    return found && { ...found, text: (await buffer(found.stream)).toString() };
  };

  describe(`object store on ${adapter}`, () => {
    it("gives back the bytes it was given, with size, etag and time", async () => {
      const key = freshKey();
      const put = await store().put(key, bytes, plain);
      const found = await read(key);
      assert.equal(found?.text, "0123456789");
      assert.deepEqual([put.created, found.size, found.etag, found.range], [true, 10, put.etag, { start: 0, end: 9 }]);
      assert.ok(Math.abs(found.modifiedAt.getTime() - Date.now()) < 60_000);
      const { stream: _, text: __, range: ___, ...head } = found;
      assert.deepEqual(await store().head(key), head);
    });

    it("stores a stream of several megabytes in verified pieces", async () => {
      const key = freshKey();
      const content = randomBytes(5_000_000);
      const options = { size: content.length, contentType: "image/jpeg", sha256: sha256(content) };
      await store().put(key, Readable.from(pieces(content, 65_536)), options);
      const found = await store().get(key);
      assert.equal(sha256(await buffer(found?.stream ?? Readable.from([]))), options.sha256);
    });

    it("stores an object of no bytes", async () => {
      const key = freshKey();
      await store().put(key, Readable.from([]), { ...plain, size: 0 });
      assert.deepEqual((await read(key))?.text, "");
      assert.equal((await store().head(key))?.size, 0);
      await assert.rejects(store().get(key, { range: { start: 0 } }), new UnsatisfiableRange(0));
    });

    it("replaces an object as a whole, with another etag", async () => {
      const key = freshKey();
      const first = await store().put(key, bytes, plain);
      const second = await store().put(key, Buffer.from("short"), { ...plain, size: 5 });
      assert.equal((await read(key))?.text, "short");
      assert.notEqual(first.etag, second.etag);
    });

    it("reads ranges: from the start, in the middle, to the end, past the end, and the last bytes", async () => {
      const key = freshKey();
      await store().put(key, bytes, plain);
      const cases = [
        [{ start: 0, end: 3 }, "0123", { start: 0, end: 3 }],
        [{ start: 4, end: 4 }, "4", { start: 4, end: 4 }],
        [{ start: 7 }, "789", { start: 7, end: 9 }],
        [{ start: 8, end: 500 }, "89", { start: 8, end: 9 }],
        [{ suffix: 3 }, "789", { start: 7, end: 9 }],
        [{ suffix: 500 }, "0123456789", { start: 0, end: 9 }],
      ] as const;
      for (const [range, text, part] of cases) {
        const found = await read(key, { range });
        assert.deepEqual([found?.text, found?.range, found?.size], [text, part, 10], JSON.stringify(range));
      }
    });

    it("refuses a range that holds no byte, with the size", async () => {
      const key = freshKey();
      await store().put(key, bytes, plain);
      for (const range of [{ start: 10 }, { start: 500, end: 600 }, { suffix: 0 }]) {
        await assert.rejects(store().get(key, { range }), new UnsatisfiableRange(10), JSON.stringify(range));
      }
    });

    it("finds nothing under a missing key, whose deletion is no error", async () => {
      const key = freshKey();
      assert.equal(await store().get(key), null);
      assert.equal(await store().get(key, { range: { start: 0 } }), null);
      assert.equal(await store().head(key), null);
      await store().delete(key);
    });

    it("no longer finds what was deleted; deleting again is fine", async () => {
      const key = freshKey();
      await store().put(key, bytes, plain);
      await store().delete(key);
      await store().delete(key);
      assert.equal(await store().head(key), null);
    });

    it("writes only when absent: the first stays, the second learns its etag", async () => {
      const key = freshKey();
      const first = await store().put(key, bytes, { ...plain, ifAbsent: true });
      const second = await store().put(key, Buffer.from("second"), { ...plain, size: 6, ifAbsent: true });
      assert.deepEqual([first.created, second], [true, { etag: first.etag, created: false }]);
      assert.equal((await read(key))?.text, "0123456789");
    });

    it("the object under a contested key is whole, of a writer that got `created`", async () => {
      const key = freshKey();
      const writers = Array.from({ length: 8 }, (_, writer) => Buffer.from(`writer ${writer}`));
      const results = await Promise.all(
        writers.map((content) => store().put(key, content, { ...plain, size: content.length, ifAbsent: true })),
      );
      const created = results.flatMap(({ created }, writer) => (created ? [`writer ${writer}`] : []));
      assert.ok(created.includes((await read(key))?.text ?? ""), `one of ${created}`);
    });

    it("lists by prefix in the order of the keys, page by page", async () => {
      const root = `contract/${randomUUID()}`;
      const keys = ["a-b", "a/1", "a/2", "a/sub/3", "a0", "b"].map((name) => `${root}/${name}`);
      for (const key of [...keys].reverse()) await store().put(key, bytes, plain);
      assert.deepEqual(await keysOf(store(), `${root}/`, 100), keys);
      assert.deepEqual(await keysOf(store(), `${root}/`, 2), keys);
      assert.deepEqual(await keysOf(store(), `${root}/a/`, 1), keys.slice(1, 4));
      assert.deepEqual(await keysOf(store(), `${root}/a`, 3), keys.slice(0, 5));
      assert.deepEqual(await keysOf(store(), `${root}/none`, 3), []);
      const { objects } = await store().list(`${root}/b`, { limit: 1 });
      assert.deepEqual([objects[0]?.size, objects[0]?.modifiedAt instanceof Date], [10, true]);
    });

    it("never shows a put that fails: too short, too long, of another hash, aborted, or with a broken source", async () => {
      const abort = new AbortController();
      const failing: [string, Readable, Partial<PutOptions>][] = [
        ["too short", Readable.from(pieces(bytes, 3)), { size: 11 }],
        ["too long", Readable.from(pieces(bytes, 3)), { size: 9 }],
        ["too long in one piece", Readable.from([bytes]), { size: 4 }],
        ["too long for nothing", Readable.from([bytes]), { size: 0 }],
        ["another hash", Readable.from(pieces(bytes, 3)), { sha256: sha256(Buffer.from("other")) }],
        ["a broken source", Readable.from(breaksAfter(bytes)), { size: 20 }],
        ["aborted", Readable.from(abortsAfter(bytes, abort)), { size: 20, signal: abort.signal }],
      ];
      for (const [name, source, options] of failing) {
        const key = freshKey();
        await assert.rejects(store().put(key, source, { ...plain, ...options }), name);
        assert.equal(await store().head(key), null, `${name}: nothing is there`);
        assert.deepEqual(await keysOf(store(), key, 10), [], `${name}: nothing is listed`);
      }
    });

    it("hands on the failure of the source as it is", async () => {
      const reset = Object.assign(new Error("the client went away"), { code: "ECONNRESET" });
      const source = Readable.from(breaksAfter(bytes, reset));
      await assert.rejects(store().put(freshKey(), source, { ...plain, size: 20 }), reset);
    });

    it("keeps the old object when replacing it fails", async () => {
      const key = freshKey();
      await store().put(key, bytes, plain);
      await assert.rejects(store().put(key, Readable.from(pieces(bytes, 3)), { ...plain, size: 30 }), ContentMismatch);
      assert.equal((await read(key))?.text, "0123456789");
    });

    it("shows nothing while an upload is under way", async () => {
      const key = freshKey();
      const seen: unknown[] = [];
      const source = (async function* () {
        yield bytes;
        seen.push(await store().head(key), await store().get(key));
        yield bytes;
        seen.push(await store().head(key));
      })();
      await store().put(key, Readable.from(source), { ...plain, size: 20 });
      assert.deepEqual(seen, [null, null, null]);
      assert.equal((await store().head(key))?.size, 20);
    });

    it("lets a reader finish the object it opened while another replaces it", async () => {
      const key = freshKey();
      const first = randomBytes(2_000_000);
      await store().put(key, first, { ...plain, size: first.length });
      const opened = await store().get(key);
      await store().put(key, bytes, plain);
      assert.equal(sha256(await buffer(opened?.stream ?? Readable.from([]))), sha256(first));
    });

    it("refuses keys that could leave the store, hide in it, or mean something else", async () => {
      const keys = [
        "",
        "/a",
        "a/",
        "a//b",
        "..",
        "a/../b",
        "./a",
        ".incoming/x",
        "a\\b",
        "a b",
        "a%2fb",
        "ä",
        "a\0b",
        "x".repeat(513),
      ];
      for (const key of keys) {
        await assert.rejects(store().put(key, bytes, plain), /is not an object key/, key);
        await assert.rejects(store().get(key), /is not an object key/, key);
        await assert.rejects(store().delete(key), /is not an object key/, key);
      }
      for (const prefix of ["../", "/", "a//", ".incoming"]) {
        await assert.rejects(store().list(prefix, { limit: 1 }), /is not a key prefix/, prefix);
      }
    });

    it("says that it is well", async () => {
      assert.equal(await store().health(), null);
    });
  });
}

function* pieces(content: Uint8Array, size: number): Generator<Uint8Array> {
  for (let start = 0; start < content.length; start += size) yield content.subarray(start, start + size);
}

async function* breaksAfter(
  content: Uint8Array,
  error = new Error("the client went away"),
): AsyncGenerator<Uint8Array> {
  yield* pieces(content, 3);
  throw error;
}

/** Aborts, then continues like a client that has not noticed. */
async function* abortsAfter(content: Uint8Array, abort: AbortController): AsyncGenerator<Uint8Array> {
  yield* pieces(content, 3);
  abort.abort();
  yield content;
}

async function keysOf(store: ObjectStore, prefix: string, limit: number): Promise<string[]> {
  const keys: string[] = [];
  let after: string | undefined;
  do {
    const { objects, next } = await store.list(prefix, { limit, ...(after !== undefined && { after }) });
    keys.push(...objects.map(({ key }) => key));
    after = next ?? undefined;
  } while (after !== undefined);
  return keys;
}
