import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { root } from "../generate/repository.ts";
import { commentRules } from "./comment-rules.ts";
import { unreadProperties } from "./property-reads.ts";
import { repositoryRules } from "./repository-rules.ts";
import { readRepository } from "./structure/modules.ts";

/** A repository of its own with our configuration, so that a rule's effect is visible. */
const folder = await mkdtemp(join(tmpdir(), "signalbox-lint-"));
after(() => rm(folder, { recursive: true }));
for (const path of ["biome.jsonc", ".oxlintrc.json", "tsconfig.json", ".gitignore", "infra/tasks/lint"]) {
  await cp(join(root, path), join(folder, path), { recursive: true });
}
await symlink(join(root, "node_modules"), join(folder, "node_modules"));

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}

function run(program: string, ...options: string[]): string {
  const argv = [join(root, "node_modules", program), ...options];
  const { stdout, stderr } = spawnSync(process.execPath, argv, { cwd: folder, encoding: "utf8" });
  return stdout + stderr;
}

const biome = (...paths: string[]) => run("@biomejs/biome/bin/biome", "lint", "--reporter=github", ...paths);

test("reading the system's clock is reported everywhere except in the core and in tests", async () => {
  const text =
    "export const now = [Date.now(), new Date(), performance.now(), process.hrtime.bigint(), new Date(0)];\n";
  const reports = async (path: string) => {
    await write(path, text);
    return biome(path).match(/Take a `Clock`/g)?.length ?? 0;
  };
  assert.equal(await reports("libs/http/src/clock.ts"), 4);
  assert.equal(await reports("services/images/src/clock.ts"), 4);
  assert.equal(await reports("libs/core/src/clock.ts"), 0);
  assert.equal(await reports("libs/http/src/clock.test.ts"), 0);
});

test("the environment, the console and a default export are reported in a library", async () => {
  await write("libs/http/src/bans.ts", 'console.log("x");\nexport const home = process.env.HOME;\nexport default 1;\n');
  const report = biome("libs/http/src/bans.ts");
  for (const rule of ["noProcessEnv", "noConsole", "noDefaultExport"]) assert.match(report, new RegExp(rule));
});

test("a literal that is spread into a literal is reported, and a condition that adds members is not", async () => {
  const given = "const a = 1;\nexport const bag = { ...{ a } };\nexport const more = { ...(a > 0 && { a }) };\n";
  await write("libs/http/src/bag.ts", given);
  assert.equal((biome("libs/http/src/bag.ts").match(/List the members/g) ?? []).length, 1);
});

test("a function or a file that is too long is reported in code, and not in a test", async () => {
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `  console.error(${index});`).join("\n");
  const text = (count: number) => `export function run() {\n${lines(count)}\n}\n`;
  const found = async (path: string, count: number) => {
    await write(path, text(count));
    return biome(path).match(/noExcessiveLinesPer(Function|File)/g) ?? [];
  };
  assert.deepEqual(await found("infra/release/long.ts", 53), []);
  assert.deepEqual(await found("infra/release/long.ts", 60), ["noExcessiveLinesPerFunction"]);
  assert.equal((await found("infra/release/long.ts", 360)).length, 2);
  assert.deepEqual(await found("infra/release/long.test.ts", 360), []);
});

test("an unawaited promise is reported, also one that needs types to recognise", async () => {
  await write(
    "libs/http/src/promises.ts",
    'import { rm } from "node:fs/promises";\nimport { test } from "node:test";\nrm("x");\ntest("y", () => {});\n',
  );
  const report = run("oxlint/bin/oxlint", "--type-aware", "--format=unix", "libs/http/src/promises.ts");
  assert.match(report, /promises\.ts:3:1.*no-floating-promises/s);
  assert.doesNotMatch(report, /promises\.ts:4:/);
});

test("a name that a library shows and no other package imports is reported", async (t) => {
  const own = await mkdtemp(join(tmpdir(), "signalbox-exports-"));
  t.after(() => rm(own, { recursive: true }));
  const files: Record<string, string> = {
    "package.json": '{ "name": "own", "workspaces": ["libs/*"] }',
    "libs/a/package.json": '{ "name": "@signalbox/a", "exports": { ".": "./src/index.ts" } }',
    "libs/a/src/index.ts": "export const taken = 1;\nexport const unread = 2;\nexport interface Unread {}\n",
    "libs/b/package.json":
      '{ "name": "@signalbox/b", "exports": { ".": "./src/index.ts" }, "dependencies": { "@signalbox/a": "*" } }',
    "libs/b/src/index.ts": 'import { taken } from "@signalbox/a";\nconsole.log(taken);\n',
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(own, path)), { recursive: true });
    await writeFile(join(own, path), text);
  }
  for (const path of ["knip.jsonc", "tsconfig.json"]) await cp(join(root, path), join(own, path));
  const options = ["--no-progress", "--no-config-hints", "--include=exports,types", "--reporter=symbols"];
  const argv = [join(root, "node_modules/knip/bin/knip.js"), ...options];
  const { stdout } = spawnSync(process.execPath, argv, { cwd: own, encoding: "utf8" });
  assert.match(stdout, /unread .*libs\/a\/src\/index\.ts/);
  assert.match(stdout, /Unread .*libs\/a\/src\/index\.ts/);
  assert.doesNotMatch(stdout, /taken/);
});

const found = (text: string) =>
  commentRules.flatMap(({ find }) => find([{ path: "libs/x/src/a.ts", text }])).map((place) => place.split(": ")[1]);

test("a docstring that begins like a question is found, on one line or on several", () => {
  for (const word of ["What", "How", "Whether", "Who", "Where", "When"]) {
    assert.deepEqual(found(`const a = 1;\n  /** ${word} it is. */\n`), [`${word} it is.`]);
  }
  assert.deepEqual(found("/**\n * How long it\n * waits.\n */\n"), ["How long it waits."]);
});

test("a comment that leaves open who acts is found, wherever the words stand", () => {
  assert.deepEqual(found("// Read by whoever asks.\n"), ["Read by whoever asks."]);
  assert.deepEqual(found("/**\n * Keeps what is\n * told.\n */\n"), ["Keeps what is told."]);
});

test("plain comments, other words and texts of the program pass", () => {
  const text = [
    "/** Keeps the key. What it opens stays. */",
    "/** Whole seconds. */",
    "// When the lease ends, another takes over.",
    'const text = "whoever";',
  ].join("\n");
  assert.deepEqual(found(text), []);
});

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
