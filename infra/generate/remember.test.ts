import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { remember } from "./remember.ts";

const folder = await mkdtemp(join(tmpdir(), "signalbox-remember-"));
after(() => rm(folder, { recursive: true }));

test("a text is made again when an input or a source of it changes, and only then", async () => {
  const source = join(folder, "source.ts");
  await writeFile(source, "one");
  let made = 0;
  const textOf = (input: string) =>
    remember({ name: "text", sources: [source], inputs: [input], make: async () => `${input} ${++made}` }, folder);
  assert.deepEqual([await textOf("a"), await textOf("a")], ["a 1", "a 1"]);
  assert.equal(await textOf("b"), "b 2");
  await writeFile(source, "two");
  assert.deepEqual([await textOf("b"), await textOf("b")], ["b 3", "b 3"]);
});

test("what could not be made is not remembered", async () => {
  const recipe = { name: "failed", sources: [], inputs: [] };
  await assert.rejects(remember({ ...recipe, make: async () => assert.fail("no") }, folder));
  assert.equal(await remember({ ...recipe, make: async () => "yes" }, folder), "yes");
});
