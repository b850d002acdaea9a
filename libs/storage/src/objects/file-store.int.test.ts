import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, it } from "node:test";
import { openFileStore } from "./file-store.ts";
import type { ObjectStore } from "./object-store.ts";

let root: string;
let store: ObjectStore;
const plain = { size: 3, contentType: "text/plain" };
const away = { name: "AppError", code: "unavailable" };

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "signalbox-file-store-"));
  store = await openFileStore(root, Date.now());
});
afterEach(() => rm(root, { recursive: true, force: true }));

it("lets exactly one of many concurrent writers create an object", async () => {
  const results = await Promise.all(
    Array.from({ length: 20 }, () => store.put("a/1", Buffer.from("abc"), { ...plain, ifAbsent: true })),
  );
  assert.equal(results.filter(({ created }) => created).length, 1);
});

it("leaves no trace of an upload that failed", async () => {
  const broken = Readable.from([Buffer.from("ab")]);
  await assert.rejects(store.put("a/1", broken, plain));
  await store.put("a/2", Buffer.from("abc"), { ...plain, ifAbsent: true });
  await store.put("a/2", Buffer.from("abc"), { ...plain, ifAbsent: true });
  assert.deepEqual(await readdir(join(root, ".incoming")), []);
});

it("sweeps a crashed upload after a day, but not what is being written", async () => {
  const [stale, young] = ["stale", "young"].map((name) => join(root, ".incoming", name)) as [string, string];
  await writeFile(stale, "x");
  await writeFile(young, "x");
  await utimes(stale, new Date(), new Date(Date.now() - 25 * 3_600_000));
  await openFileStore(root, Date.now());
  assert.deepEqual(await readdir(join(root, ".incoming")), ["young"]);
});

it("a folder that is gone is an outage, not an empty store", async () => {
  await store.put("a/1", Buffer.from("abc"), plain);
  await rm(root, { recursive: true });
  await assert.rejects(store.get("a/1"), away);
  await assert.rejects(store.head("a/1"), away);
  await assert.rejects(store.delete("a/1"), away);
  await assert.rejects(store.list("a/", { limit: 1 }), away);
  await assert.rejects(store.put("a/1", Buffer.from("abc"), plain), away);
  assert.match((await store.health()) ?? "", /cannot be written/);
});

it("keeps objects over a restart, shared with other processes", async () => {
  const { etag } = await store.put("a/1", Buffer.from("abc"), plain);
  const other = await openFileStore(root, Date.now());
  assert.equal((await other.head("a/1"))?.etag, etag);
});

it("adopts a whole file once, without copying it or leaving anything aside", async () => {
  const { folder } = store;
  assert.ok(folder);
  for (const [isExpendable, created] of [
    [false, true],
    [true, false],
  ] as const) {
    const path: string = folder.newPath();
    await writeFile(path, "abc");
    const { ino }: { ino: number } = await stat(path);
    const adopted = await folder.adopt("a/1", path, { ifAbsent: true, isExpendable });
    assert.deepEqual([adopted.created, (await stat(folder.pathOf("a/1"))).ino === ino], [created, created]);
  }
  assert.deepEqual(await readdir(join(root, ".incoming")), []);
  await assert.rejects(folder.adopt("a/2", folder.newPath(), {}), away);
});
