import assert from "node:assert/strict";
import { test } from "node:test";
import { unreadProperties } from "./property-reads.ts";
import { readRepository } from "./structure/modules.ts";

function unread(declared: Record<string, string[]>, files: Record<string, string>): string[] {
  const sources = Object.entries(files).map(([path, text]) => ({ path, text }));
  const properties = Object.entries(declared).map(([folder, names]) => ({ folder, names }));
  return unreadProperties(properties, readRepository(sources, [])).filter((problem) => problem.includes("no code"));
}

test("an unused declared property is reported with its package", () => {
  assert.deepEqual(
    unread(
      { "libs/cache": ["cache.url", "cache.size"] },
      { "libs/cache/src/open.ts": 'configuration.get("cache.url");' },
    ),
    ["libs/cache: cache.size is declared, and no code reads it"],
  );
});

test("listening to changes, a template and a table in the reading file are reads", () => {
  const files = {
    "libs/http/src/a.ts": 'configuration.onChange("http.window", apply);',
    "libs/http/src/b.ts": `const port = configuration.get(\`$${"{name}"}.port\`);`,
    "services/account/src/c.ts":
      'const table = { images: "images.internal-url" };\nfor (const name of Object.values(table)) configuration.get(name);',
  };
  const names = ["http.window", "http.port", "http.deep.port", "images.internal-url"];
  assert.deepEqual(unread({ "libs/http": names }, files), [
    "libs/http: http.deep.port is declared, and no code reads it",
  ]);
});

test("the declaration itself and a test are no reads", () => {
  const files = {
    "libs/a/src/properties.ts": 'map.get("a.first");',
    "libs/a/src/first.test.ts": 'configuration.get("a.first");',
    "libs/a/test/harness.ts": 'configuration.get("a.first");',
    "bench/a.ts": 'configuration.get("a.first");',
  };
  assert.equal(unread({ "libs/a": ["a.first"] }, files).length, 1);
});

test("a service's own property has to be read there or in a library, not in another service", () => {
  const files = { "services/two/src/service.ts": 'configuration.get("one.size");' };
  assert.equal(unread({ "services/one": ["one.size"] }, files).length, 1);
  assert.deepEqual(
    unread({ "services/one": ["one.size"] }, { "libs/a/src/b.ts": 'configuration.get("one.size");' }),
    [],
  );
});

test("a property taken over from a library is the library's to read", () => {
  const declared = { "libs/a": ["a.first"], "services/one": ["a.first"] };
  assert.deepEqual(unread(declared, {}), ["libs/a: a.first is declared, and no code reads it"]);
});
