import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { packClient } from "@signalbox/infra/release/pack-client.ts";
import type { System } from "../systems/system.ts";

const run = promisify(execFile);

/**
 * Installs the packed client in a project outside this repository, compiles against its types, and calls the system.
 */
export async function usesPackedClient({ baseUrl, apiKey }: System, accountId: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-sample-"));
  try {
    const tarball = await packClient(folder);
    const manifest = { name: "sample", private: true, type: "module" };
    await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
    await cp(join(import.meta.dirname, "sample.ts"), join(folder, "sample.ts"));
    await run("npm", ["install", "--no-audit", "--no-fund", tarball], { cwd: folder });
    const typeRoots = join(repositoryFolder, "node_modules/@types");
    const strict = ["--strict", "--exactOptionalPropertyTypes", "--skipLibCheck", "false", "--types", "node"];
    const kind = ["--module", "nodenext", "--target", "es2023", "--typeRoots", typeRoots];
    const compiler = join(repositoryFolder, "node_modules/typescript/bin/tsc");
    await run(process.execPath, [compiler, ...strict, ...kind, "sample.ts"], { cwd: folder }).catch(
      ({ stdout }: { stdout: string }) => assert.fail(stdout),
    );
    const { stdout } = await run(process.execPath, [join(folder, "sample.js"), baseUrl, apiKey]);
    const expected = { id: accountId, title: "A pixel", newest: true, refused: "404 not_found" };
    assert.deepEqual(JSON.parse(stdout), expected);
  } finally {
    await rm(folder, { recursive: true });
  }
}
