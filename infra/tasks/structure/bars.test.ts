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
