import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { promisify } from "node:util";
import { repositoryFolder } from "../engines/engine-folders.ts";

const run = promisify(execFile);

test("the image contains just what its programs load, without the tooling of tests or console", async () => {
  const target = await mkdtemp(join(tmpdir(), "signalbox-traced-"));
  try {
    await run(process.execPath, [join(import.meta.dirname, "trace-image.ts"), target]);
    const command = join(target, "libs/client/src/command/signalbox-cli.ts");
    const { version } = JSON.parse(await readFile(join(repositoryFolder, "package.json"), "utf8"));
    assert.equal((await run(process.execPath, [command, "--version"], { cwd: target })).stdout.trim(), version);
    // What the gateway serves comes with it, built.
    assert.ok(existsSync(join(target, "services/gateway/assets/console.json.br")));
    assert.ok(!(await readdir(join(target, "services"))).includes("console"));
    const packages = JSON.parse(await readFile(join(target, "sbom.cdx.json"), "utf8")).components;
    const names = packages.map(({ name }: { name: string }) => name);
    assert.ok(names.includes("kafkajs"));
    for (const name of ["vite", "fast-check", "typescript"]) assert.ok(!names.includes(name), name);
  } finally {
    await rm(target, { recursive: true });
  }
});
