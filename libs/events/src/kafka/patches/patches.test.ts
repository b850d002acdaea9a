import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";

const { version } = createRequire(import.meta.url)("kafkajs/package.json") as { version: string };
const files = readdirSync(import.meta.dirname);
const tests = files
  .filter((name) => name.endsWith("-patches.test.ts"))
  .map((name) => readFileSync(join(import.meta.dirname, name), "utf8"))
  .join("");

for (const file of files.filter((name) => !name.endsWith(".test.ts"))) {
  test(`${file} has a test and a fault that was seen in the installed kafkajs`, () => {
    const text = readFileSync(join(import.meta.dirname, file), "utf8");
    const [, seenIn] =
      / \* Fault: [^/]* \* Seen in kafkajs ([\d.]+)\. Upstream: (?:[^/]*tulios\/kafkajs#\d+|none; )/.exec(text) ?? [];
    assert.equal(seenIn, version, "look whether the fault is still there, and repeat the engine tests");
    assert.ok(tests.includes(`"./${file}"`));
  });
}

test("only patches reach into kafkajs", () => {
  const sources = readdirSync(join(import.meta.dirname, "../.."), { recursive: true, encoding: "utf8" });
  const reaching = sources
    .filter((file) => /(?<!\.test)\.ts$/.test(file) && !file.includes("kafka/patches/"))
    .filter((file) => readFileSync(join(import.meta.dirname, "../..", file), "utf8").includes("kafkajs/src"));
  assert.deepEqual(reaching, []);
});
