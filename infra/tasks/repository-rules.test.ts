import assert from "node:assert/strict";
import { test } from "node:test";
import { repositoryRules } from "./repository-rules.ts";

const places = (path: string, text: string) => repositoryRules.flatMap(({ find }) => find([...around, { path, text }]));
const manifest = { path: "package.json", text: '{"dependencies":{"pg":"8.23.1"}}' };
const reasons = { path: "docs/reference/dependencies.md", text: "| `pg` | transactions |\n" };
const lock = { path: "package-lock.json", text: lockWith("node_modules/graphql") };
const around = [lock, manifest, reasons];

// Joined from parts, because the rules check this file too.
const forbidden: Record<string, [path: string, text: string]> = {
  "a mark of unfinished work": ["libs/x/src/a.ts", `// ${"TO"}DO later`],
  "a test that is skipped": ["libs/x/src/a.test.ts", `test${".skip"}("x", () => {});`],
  "a test that is skipped by an option": ["libs/x/src/a.test.ts", `test("x", ${"{"} skip: true }, () => {});`],
  "a path of one person's machine": ["libs/x/src/a.ts", `read("${"/home"}/ada/file")`],
  "the temporary folder by name": ["libs/x/src/a.ts", `read("${"/tm"}p/file")`],
  "a registry in the lock file": [
    "package-lock.json",
    `{"packages":{},\n"resolved": "${"https"}://registry.example/x.tgz"}`,
  ],
  "a migration that declares nothing": [
    "services/x/prisma/migrations/20270101_more/migration.sql",
    "create table more ();",
  ],
  "a range of versions": ["libs/x/package.json", `{"dependencies":{"pg":"^8.0.0"}}`],
  "a package without a reason": ["libs/x/package.json", '{"dependencies":{"left-pad":"1.3.0"}}'],
  "a workspace by version": ["libs/x/package.json", `{"dependencies":{"@signalbox/core":"0.0.0"}}`],
};

for (const [what, [path, text]] of Object.entries(forbidden)) {
  test(`${what} is found with its place`, () => {
    const found = repositoryRules.flatMap(({ find }) =>
      find([...around.filter((file) => file.path !== path), { path, text }]),
    );
    assert.equal(found.filter((place) => place.startsWith(path)).length, 1, found.join("\n"));
  });
}

test("a second copy of graphql, or another major version, is found", () => {
  const find = (text: string) => repositoryRules.flatMap((rule) => rule.find([{ path: "package-lock.json", text }]));
  assert.equal(find(lockWith("node_modules/graphql", "node_modules/pg/node_modules/graphql")).length, 2);
  assert.equal(find(lockWith("node_modules/graphql").replace("16.", "17.")).length, 1);
});

test("the 29th decision is found, and 28 pass", () => {
  const pages = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ path: `docs/decisions/${1000 + index}-page.md`, text: "" }));
  const found = (count: number) => repositoryRules.flatMap(({ find }) => find([...around, ...pages(count)]));
  assert.deepEqual(found(28), []);
  assert.deepEqual(found(29), ["docs/decisions/1028-page.md"]);
});

test("a package whose licence asks for more than to be named is found where NOTICE lacks it", () => {
  const packages = {
    "node_modules/graphql": { version: "16.1.0", license: "MIT" },
    "node_modules/x": { license: "EPL-2.0" },
  };
  const locked = { path: "package-lock.json", text: JSON.stringify({ packages }) };
  const found = (notice: string) =>
    repositoryRules.flatMap(({ find }) => find([locked, manifest, reasons, { path: "NOTICE", text: notice }]));
  assert.deepEqual(found("EPL-2.0  x, y"), []);
  assert.deepEqual(found("EPL-2.0  xy"), ["x: EPL-2.0"]);
});

test("an exact version may stand behind another name, also in an override", () => {
  const inexact = (dependencies: string) =>
    places("libs/x/package.json", `{"devDependencies":{"pg":"8.23.1"},"overrides":${dependencies}}`).filter((place) =>
      place.includes("libs/x"),
    );
  assert.deepEqual(inexact('{"a":{"b":"npm:pg@8.23.1"}}'), []);
  assert.deepEqual(inexact('{"a":{"pg":"^8.0.0"}}'), ["libs/x/package.json: pg ^8.0.0"]);
});

test("a lock file that npm ci would refuse is found with what it lacks", () => {
  const find = (packages: object, manifest = "{}") =>
    repositoryRules
      .flatMap((rule) =>
        rule.find([
          { path: "package-lock.json", text: JSON.stringify({ packages: { ...graphql, ...packages } }) },
          { path: "libs/x/package.json", text: manifest },
        ]),
      )
      .filter((place) => place.startsWith("package-lock.json"));
  const graphql = { "node_modules/graphql": { version: "16.15.0" } };
  const ofSystems = { version: "1.0.0", optionalDependencies: { "a-linux": "1.0.0", "a-darwin": "1.0.0" } };
  const linux = { "node_modules/a": ofSystems, "node_modules/a-linux": { version: "1.0.0" } };
  assert.deepEqual(find(linux), ["package-lock.json: node_modules/a asks for a-darwin"]);
  assert.deepEqual(find({ ...linux, "node_modules/a/node_modules/a-darwin": { version: "1.0.0" } }), []);
  const peers = {
    version: "1.0.0",
    peerDependencies: { b: "*", c: "*" },
    peerDependenciesMeta: { c: { optional: true } },
  };
  assert.deepEqual(find({ "libs/x/node_modules/a": peers }), ["package-lock.json: libs/x/node_modules/a asks for b"]);
  const other = '{"dependencies":{"graphql":"16.15.0"}}';
  assert.deepEqual(find({ "libs/x": { version: "1.0.0" } }, other), [
    "package-lock.json: other dependencies than libs/x/package.json",
  ]);
});

test("a package that was given up keeps no reason", () => {
  const found = repositoryRules.flatMap(({ find }) =>
    find([lock, manifest, { ...reasons, text: `${reasons.text}| \`left-pad\`, \`@types/*\` | padding |\n` }]),
  );
  assert.deepEqual(found, ["docs/reference/dependencies.md: left-pad", "docs/reference/dependencies.md: @types/*"]);
});

test("ordinary code passes", () => {
  assert.deepEqual(places("libs/x/src/a.ts", 'import { root } from "../work/root.ts";\nlist.skip(1);\n'), []);
  assert.deepEqual(places("libs/x/package.json", '{"dependencies":{"@signalbox/core":"*","pg":"8.23.1"}}'), []);
  assert.deepEqual(places("libs/x/migrations/009_more.sql", "-- signalbox: expand\ncreate table more ();"), []);
});

function lockWith(...paths: string[]): string {
  return JSON.stringify({
    packages: Object.fromEntries(paths.map((path) => [path, { version: "16.15.0", license: "MIT" }])),
  });
}
