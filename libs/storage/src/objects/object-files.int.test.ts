import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, it } from "node:test";
import { openFileStore } from "./file-store.ts";
import { openObjectFiles } from "./object-files.ts";
import type { ObjectStore } from "./object-store.ts";

let root: string;
let folder: ObjectStore;
/** The same objects, as if they were on another machine. */
let remote: ObjectStore;
let fetched: string[];
const closes: (() => unknown)[] = [];
const runner = { defer: (_name: string, close: () => unknown) => void closes.push(close) };
const plain = { size: 3, contentType: "text/plain" };
const read = (path: string) => readFile(path, "utf8");

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "signalbox-object-files-"));
  folder = await openFileStore(root, Date.now());
  fetched = [];
  const { folder: _, ...rest } = folder;
  remote = {
    ...rest,
    get(key, options) {
      fetched.push(key);
      return folder.get(key, options);
    },
  };
  for (const name of ["one", "two"]) await folder.put(`a/${name}`, Buffer.from(name), plain);
});
afterEach(async () => {
  for (const close of closes.splice(0)) await close();
  await rm(root, { recursive: true, force: true });
});

it("hands out and stores files of a folder without copying them", async () => {
  const files = await openObjectFiles({ objects: folder, cacheMax: 0, directory: null, runner });
  assert.equal(await files.withFile("a/one", async (path) => path), folder.folder?.pathOf("a/one"));
  assert.equal(await files.withFile("a/none", read), null);
  const path = files.newPath();
  await writeFile(path, "new");
  await files.put("a/new", path, plain);
  assert.equal(await files.withFile("a/new", read), "new");
  await assert.rejects(read(path));
});

it("has no file of an object that is deleted before it is read", async () => {
  const files = await openObjectFiles({ objects: folder, cacheMax: 0, directory: null, runner });
  const readLate = async (path: string) => {
    await folder.delete("a/one");
    return read(path);
  };
  assert.equal(await files.withFile("a/one", readLate), null);
});

it("copies what is on another machine once, within its bytes, the longest unused first", async () => {
  const files = await openObjectFiles({ objects: remote, cacheMax: 3, directory: root, runner });
  const [copies] = (await readdir(root)).filter((name) => name.startsWith("signalbox-copies-"));
  const kept = async () => (await readdir(join(root, copies ?? ""))).length;
  assert.deepEqual(await Promise.all([1, 2, 3].map(() => files.withFile("a/one", read))), ["one", "one", "one"]);
  assert.equal(await files.withFile("a/one", read), "one");
  assert.deepEqual([fetched, await kept()], [["a/one"], 1]);
  const inUse = await files.withFile("a/one", async (path) => {
    assert.equal(await files.withFile("a/two", read), "two");
    return read(path);
  });
  assert.deepEqual([inUse, await kept()], ["one", 1]);
  assert.equal(await files.withFile("a/none", read), null);
  const path = files.newPath();
  await writeFile(path, "new");
  await files.put("a/new", path, plain);
  assert.equal(await files.withFile("a/new", read), "new");
});

it("does not remember that a copy failed, nor leave copies after closing", async () => {
  const objects = {
    ...remote,
    get: (key: string) => (fetched.length++ === 0 ? Promise.reject(new Error("away")) : remote.get(key)),
  };
  const files = await openObjectFiles({ objects, cacheMax: 100, directory: root, runner });
  await assert.rejects(files.withFile("a/one", read), /away/);
  assert.equal(await files.withFile("a/one", read), "one");
  for (const close of closes.splice(0)) await close();
  assert.ok(!(await readdir(root)).some((name) => name.startsWith("signalbox-copies-")));
});
