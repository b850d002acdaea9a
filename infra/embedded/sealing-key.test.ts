import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { keptSealingKey } from "./sealing-key.ts";

const folder = await mkdtemp(join(tmpdir(), "signalbox-data-"));
after(() => rm(folder, { recursive: true }));
const file = join(folder, "keys");

test("a sealing key cut off at any byte is made anew while nothing can be sealed with it", async () => {
  const whole = await keptSealingKey(folder, async () => false);
  assert.equal(await readFile(file, "utf8"), `${whole}\n`);
  for (let length = 0; length < whole.length; length++) {
    await writeFile(file, whole.slice(0, length));
    const made = await keptSealingKey(folder, async () => false);
    assert.notEqual(made, whole);
    assert.equal(await keptSealingKey(folder, async () => true), made, "what was made is kept");
  }
});

test("a lost sealing key stops the start once something may be sealed with it, and is left as it is", async () => {
  for (const left of ["", "k1:AAAA"]) {
    await writeFile(file, left);
    await assert.rejects(
      keptSealingKey(folder, async () => true),
      (error: Error) => {
        assert.ok(error.message.startsWith(`${file} is missing or cut off`), error.message);
        assert.match(error.message, /put the file back from a copy, or move .* away to start empty$/);
        return true;
      },
    );
    assert.equal(await readFile(file, "utf8"), left);
  }
});
