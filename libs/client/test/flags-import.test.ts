import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createHome } from "./call.ts";
import { openTestClient } from "./test-server.ts";

const flag = { state: "ENABLED", variants: { on: true, off: false }, defaultVariant: "off" };

interface Input {
  readonly key: string;
  readonly dryRun?: boolean;
  readonly expectedRevision: string;
}

/** Imports a file of flagd into a service that knows `known` and refuses `refused`. */
async function importing(t: TestContext, flags: object, ...words: readonly string[]) {
  const inputs: Input[] = [];
  const { baseUrl } = await openTestClient(t, ({ body }) => {
    const { query, variables } = JSON.parse(body.toString());
    if (!query.startsWith("mutation")) return { body: { data: { flags: [{ key: "known", revision: "7" }] } } };
    inputs.push(variables.input);
    const errors = variables.input.key === "refused" ? [{ field: "key", message: "Not this one." }] : [];
    return { body: { data: { setFlag: { revision: "8", errors } } } };
  });
  const { call, home } = await createHome(t);
  const file = join(home, "flags.json");
  await writeFile(file, JSON.stringify({ flags }));
  const environment = { SIGNALBOX_URL: baseUrl, SIGNALBOX_API_KEY: "sbx_dev_1" };
  const answer = await call(["flags", "import", file, "--owner", "web", "--reason", "r", ...words], { environment });
  return { ...answer, inputs, set: inputs.filter(({ dryRun }) => dryRun !== true) };
}

test("flags of a file are set at the revision that was seen", async (t) => {
  const { exitCode, set } = await importing(t, { known: flag, fresh: flag }, "--yes");
  assert.equal(exitCode, 0);
  assert.deepEqual(
    set.map(({ key, expectedRevision }) => [key, expectedRevision]),
    [
      ["known", "7"],
      ["fresh", "0"],
    ],
  );
});

test("a dry run tries every flag without setting any", async (t) => {
  const { exitCode, inputs, set } = await importing(t, { known: flag, fresh: flag }, "--dry-run");
  assert.deepEqual([exitCode, inputs.length, set.length], [0, 2, 0]);
});

test("a flag that cannot be converted or is refused keeps all of the file from being set", async (t) => {
  const strange = { ...flag, targeting: { if: [{ cat: [] }, "on"] } };
  const { exitCode, stderr, set } = await importing(t, { fresh: flag, refused: flag, strange }, "--yes");
  assert.deepEqual([exitCode, set.length], [1, 0]);
  assert.match(stderr, /flags\.strange\.targeting\.if\[0\]: cat of this form is not supported/);
  assert.match(stderr, /refused: Not this one\./);
});

test("an import names its reason, its owner", async (t) => {
  const { call } = await createHome(t);
  assert.match((await call(["flags", "import", "f.json", "--owner", "a"])).stderr, /--reason/);
  assert.match((await call(["flags", "import", "f.json", "--reason", "a"])).stderr, /--owner/);
});

test("a number that would be rounded is refused with its line", async (t) => {
  const { call } = await createHome(t);
  const large =
    '{ "flags": {\n "f": { "state": "ENABLED", "variants": { "a": 9007199254740993 }, "defaultVariant": "a" } } }';
  const words = ["flags", "import", "-", "--owner", "a", "--reason", "r"];
  const { exitCode, stderr } = await call(words, { stdin: large });
  assert.equal(exitCode, 2);
  assert.match(stderr, /-:2: 9007199254740993 would be rounded/);
});

test("a member that stands twice is refused with its line", async (t) => {
  const { call } = await createHome(t);
  const words = ["flags", "import", "-", "--owner", "a", "--reason", "r"];
  const { exitCode, stderr } = await call(words, { stdin: '{ "flags": { "a": {},\n "b": {"a": 1}, "a": {} } }' });
  assert.equal(exitCode, 2);
  assert.match(stderr, /-:2: The member a is there twice/);
});

test("a key that stands twice keeps all of the file from being set", async (t) => {
  const { call } = await createHome(t);
  const { baseUrl, received } = await openTestClient(t, () => ({
    body: { data: { flags: [], setFlag: { errors: [] } } },
  }));
  const feature = { name: "twice", strategies: [{ name: "default" }] };
  const words = ["flags", "import", "-", "--owner", "a", "--reason", "r", "--yes"];
  const stdin = JSON.stringify({ features: [feature, feature] });
  const environment = { SIGNALBOX_URL: baseUrl, SIGNALBOX_API_KEY: "sbx_dev_1" };
  const { exitCode, stderr } = await call(words, { stdin, environment });
  assert.equal(exitCode, 1);
  assert.match(stderr, /twice: is there twice/);
  assert.ok(received.every(({ body }) => !/"dryRun":false/.test(String(body))));
});
