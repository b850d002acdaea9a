import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { root } from "../generate/repository.ts";

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
