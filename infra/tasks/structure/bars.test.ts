import assert from "node:assert/strict";
import { test } from "node:test";
import { measureBars } from "./bars.ts";
import { type Manifest, readRepository } from "./modules.ts";

const manifests: Manifest[] = [
  { folder: "libs/a", name: "@signalbox/a", exports: { ".": "./src/index.ts", "./properties": "./src/properties.ts" } },
  { folder: "libs/b", name: "@signalbox/b", exports: { ".": "./src/index.ts" } },
  { folder: "services/one", name: "@signalbox/one-service", exports: { "./service": "./src/service.ts" } },
  { folder: "services/two", name: "@signalbox/two-service", exports: {} },
];

/** The places of one bar in a repository of these files. */
function places(bar: string, files: Record<string, string>): readonly string[] {
  const sources = Object.entries(files).map(([path, text]) => ({ path, text }));
  const found = measureBars(readRepository(sources, manifests)).find(({ name }) => name === bar);
  assert.ok(found, `no bar is named ${bar}`);
  return found.places;
}

const lines = (count: number, text = (index: number) => `  step${index}();`) =>
  Array.from({ length: count }, (_, index) => text(index)).join("\n");

test("a short file that one other imports is found, also when only its types are imported", () => {
  const files = {
    "libs/a/src/short.ts": "export interface A {}\n",
    "libs/a/src/user.ts": 'import type { A } from "./short.ts";\nexport const a = (given: A) => given;\n',
    "libs/a/test/harness.ts": 'import type { A } from "../src/short.ts";\n',
  };
  assert.deepEqual(places("files under 25 lines with one importer", files), ["libs/a/src/short.ts (1 lines)"]);
});

test("a short file stands alone at a door, when it is loaded late, with its own test, and with two importers", () => {
  const files = {
    "libs/a/src/index.ts": 'export { shown } from "./shown.ts";\n',
    "libs/a/src/shown.ts": "export const shown = 1;\n",
    "libs/a/src/late.ts": "export const late = 1;\n",
    "libs/a/src/rule.ts": "export const rule = 1;\n",
    "libs/a/src/rule.test.ts": 'import { rule } from "./rule.ts";\nrule;\n',
    "libs/a/src/both.ts": "export const both = 1;\n",
    "libs/a/src/user.ts": `import { rule } from "./rule.ts";\nimport { both } from "./both.ts";\nimport("./late.ts");\n`,
    "libs/a/src/other.ts": 'import { both } from "./both.ts";\nimport { shown } from "./shown.ts";\n',
  };
  assert.deepEqual(places("files under 25 lines with one importer", files), []);
});

test("six equal lines of two services are one block, whatever stands between them that says nothing", () => {
  const left = `import { x } from "./x.ts";\n${lines(6)}\nleft();\n`;
  const right = `right();\n${lines(6, (index) => `\n    step${index}();\n  },`)}\n`;
  assert.deepEqual(
    places("equal blocks of six lines between two services", {
      "services/one/src/a.ts": left,
      "services/two/src/b.ts": right,
    }),
    ["services/one/src/a.ts:2 = services/two/src/b.ts:3 (6 lines)"],
  );
});

test("five equal lines, equal imports and equal lines inside one service are no block", () => {
  const imports = lines(8, (index) => `import { a${index} } from "./a${index}.ts";`);
  const files = {
    "services/one/src/a.ts": `${imports}\n${lines(5)}\n`,
    "services/two/src/b.ts": `${imports}\n${lines(5)}\n`,
    "services/two/src/c.ts": lines(9, (index) => `other${index}();`),
    "services/two/src/d.ts": lines(9, (index) => `other${index}();`),
  };
  assert.deepEqual(places("equal blocks of six lines between two services", files), []);
});

test("one name for values of two libraries is found; the same value shown twice is one", () => {
  const files = {
    "libs/a/src/index.ts": 'export { twice } from "./room.ts";\nexport const once = 1;\nexport interface Kind {}\n',
    "libs/b/src/index.ts":
      'export { once } from "@signalbox/a";\nexport { twice } from "./room.ts";\nexport interface Kind {}\n',
  };
  assert.deepEqual(places("values of two libraries with one name", files), ["twice: libs/a, libs/b"]);
});

test("a service that outgrows its ceiling breaks its bar; its tests do not count", () => {
  const files = Array.from({ length: 43 }, (_, index) => ({ path: `services/config/src/a${index}.ts`, text: "" }));
  const measure = (sources: typeof files) =>
    measureBars(readRepository(sources, manifests)).find(({ name }) => name === "files of services/config/src");
  assert.equal(measure(files)?.figure, 43);
  assert.ok((measure(files)?.max ?? 43) < 43);
  assert.equal(measure(files.map(({ path, text }) => ({ path: path.replace(".ts", ".test.ts"), text })))?.figure, 0);
});

test("a factory, a type of dependencies and an intersection of such types are counted by the names that they take", () => {
  const nine = Array.from({ length: 9 }, (_, at) => `readonly part${at}: number;`).join(" ");
  const files = {
    "services/one/src/wide.ts": `interface Dependencies { ${nine} }\nexport function createWide(parts: Dependencies) { return parts; }\n`,
    "services/one/src/fields.ts": `export interface Fields { ${nine.replaceAll("part", "field")} }\n`,
    "services/one/src/joined.ts":
      'import type { Fields } from "./fields.ts";\ntype Parts = Pick<Fields, "field1" | "field2"> & { readonly own: number };\n',
    "services/one/src/taken.ts":
      "export const createTaken = ({ a, b, c, d, e, f, g, h, i }: Context) => [a, b, c, d, e, f, g, h, i];\n",
    "services/one/src/narrow.ts": "export const createNarrow = ({ a, b }: Context) => [a, b];\n",
  };
  assert.deepEqual(places("factories with more than 8 named dependencies", files), [
    "services/one/src/wide.ts:1 Dependencies (9 dependencies)",
    "services/one/src/fields.ts:1 Fields (9 dependencies)",
    "services/one/src/taken.ts:1 createTaken (9 dependencies)",
  ]);
});

test("of two folders that import each other the rarer direction runs back up, imports of types included", () => {
  const files = {
    "services/config/src/edges.ts": 'import { rule } from "./flags/rule.ts";\nrule;\n',
    "services/config/src/flags/rule.ts":
      'import { store } from "../stores/store.ts";\nexport const rule = store;\nexport interface Rule {}\n',
    "services/config/src/flags/other.ts": 'import { store } from "../stores/store.ts";\nexport const other = store;\n',
    "services/config/src/stores/store.ts":
      'import type { Rule } from "../flags/rule.ts";\nexport const store = (rule: Rule) => rule;\n',
  };
  assert.deepEqual(places("imports that run back up in services/config", files), [
    "services/config/src/stores/store.ts -> flags/rule.ts",
  ]);
});

test("a walk follows imports from the route table, and what no import reaches stops the measurement", () => {
  const names = ["credentialOperations", "createApiKeyStore", "apiKeyEvents", "viewApiKey"];
  const files = {
    "services/account/src/edges.ts": 'import { apiKeyApi } from "./keys/keys-api.ts";\napiKeyApi;\n',
    "services/account/src/keys/keys-api.ts":
      'import { between } from "./between.ts";\nexport const apiKeyApi = between;\n',
    "services/account/src/keys/between.ts":
      'import { createCredentials } from "./keys.ts";\nexport const between = createCredentials;\n',
    "services/account/src/keys/keys.ts": `export const createCredentials = 1;\n${names.map((name) => `export const ${name} = 1;`).join("\n")}\n`,
  };
  const way = ["keys/keys-api.ts", "keys/between.ts", "keys/keys.ts"].map((path) => `services/account/src/${path}`);
  assert.deepEqual(places("files from a route to its rule: rename a key", files), way);
  assert.deepEqual(places("files of a whole story: rename a key", files), ["services/account/src/edges.ts", ...way]);
  const cut = { ...files, "services/account/src/keys/between.ts": "export const between = 1;\n" };
  assert.throws(
    () => places("files of a whole story: rename a key", cut),
    /No import leads from .* to createCredentials/,
  );
});
