import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { eventOf } from "@signalbox/contracts";
import { eventually } from "@signalbox/testing";
import { createRevisionGathering } from "./gather-revisions.ts";
import { copyKeysOf, createOverrideCopy } from "./override-copy.ts";

const overrides = {
  revision: 3,
  changes: {
    "server.name": { revision: 1, set: true, secrecy: "public", value: "Harbour" },
    "server.color": { revision: 2, set: false, secrecy: "public", value: null },
    "some.note": { revision: 3, set: true, secrecy: "sensitive", value: "for insiders" },
  },
  flags: [
    { key: "checkout.new", revision: 2, definition: eventOf("flag.changed").example.definition },
    { key: "gone", revision: 3, definition: null },
  ],
} as const;

const key = () => `k1:${randomBytes(32).toString("base64")}`;
const folder = await mkdtemp(join(tmpdir(), "signalbox-copies-"));
after(() => rm(folder, { recursive: true }));
const directory = () => mkdtemp(join(folder, "copy-"));

test("a copy is read back unchanged from a file that shows no sensitive value", async () => {
  const place = { service: "images", directory: await directory(), keys: [key()] };
  const copy = createOverrideCopy(place);
  assert.equal(await copy.read(), null);
  await copy.write(overrides);
  assert.deepEqual(await createOverrideCopy(place).read(), overrides);
  const text = await readFile(join(place.directory, "overrides.images.json"), "utf8");
  assert.ok(text.includes("Harbour") && !text.includes("insiders"));
});

test("a modified copy, or one sealed by another key, is refused", async () => {
  const place = { service: "images", directory: await directory(), keys: [key()] };
  await createOverrideCopy(place).write(overrides);
  await assert.rejects(createOverrideCopy({ ...place, keys: [key()] }).read());
  await writeFile(join(place.directory, "overrides.images.json"), '{"revision":-1}');
  await assert.rejects(createOverrideCopy(place).read());
});

test("a service without sealing keys seals with its internal token, also with one being rotated out", async () => {
  const keysOf = (tokens: string[]) => copyKeysOf({ knows: (name) => name === "internal.token", get: () => tokens });
  const place = { service: "images", directory: await directory() };
  const [old, next] = ["a".repeat(32), "b".repeat(32)];
  await createOverrideCopy({ ...place, keys: keysOf([old]) }).write(overrides);
  assert.deepEqual(await createOverrideCopy({ ...place, keys: keysOf([next, old]) }).read(), overrides);
});

function given(waitMs?: number) {
  const taken: Record<string, unknown>[] = [];
  const gathering = createRevisionGathering((changes) => {
    taken.push(Object.fromEntries([...changes].map(([name, { value }]) => [name, value])));
  }, waitMs);
  const add = (name: string, revision: number, together: number) =>
    gathering.add(name, { revision, set: true, value: revision, secrecy: "public" }, together);
  return { taken, add };
}

test("properties changed in one revision change together, despite other records or repetitions", () => {
  const { taken, add } = given();
  add("a", 7, 2);
  add("a", 7, 2);
  add("c", 8, 1);
  assert.deepEqual(taken, [{ c: 8 }]);
  add("b", 7, 2);
  assert.deepEqual(taken, [{ c: 8 }, { a: 7, b: 7 }]);
});

test("an incomplete revision is not waited for without end", async () => {
  const { taken, add } = given(1);
  add("a", 7, 2);
  await eventually(() => taken.length === 1);
  assert.deepEqual(taken, [{ a: 7 }]);
});
