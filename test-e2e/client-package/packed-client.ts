import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { packClient } from "@signalbox/infra/release/pack-client.ts";

const run = promisify(execFile);

/** A project outside this repository with the packed client in it, as a stranger has it. */
export interface StrangersProject {
  readonly folder: string;
  /** Compiles a program of this folder with the strictest compiler, and returns the path of its JavaScript. */
  compile(file: string): Promise<string>;
  remove(): Promise<void>;
}

/** Installs the packed client: from the registry as npm does it, or with the copy of its one dependency that is here. */
export async function installPackedClient(dependencies: "registry" | "here"): Promise<StrangersProject> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-sample-"));
  const tarball = await packClient(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ name: "sample", private: true, type: "module" }));
  if (dependencies === "registry") {
    await run("npm", ["install", "--no-audit", "--no-fund", tarball], { cwd: folder });
  } else {
    const packed = join(folder, "node_modules/@signalbox/client");
    await mkdir(packed, { recursive: true });
    await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", packed]);
    for (const name of ["openapi-fetch", "openapi-typescript-helpers"])
      await cp(join(repositoryFolder, "node_modules", name), join(folder, "node_modules", name), { recursive: true });
  }
  return {
    folder,
    async compile(file) {
      await cp(join(import.meta.dirname, file), join(folder, file));
      await compileStrictly(folder, [
        "--types",
        "node",
        "--typeRoots",
        join(repositoryFolder, "node_modules/@types"),
        file,
      ]);
      return join(folder, file.replace(/\.ts$/, ".js"));
    },
    remove: () => rm(folder, { recursive: true }),
  };
}

/** Runs the compiler on files of a project. What it reports fails the test. */
export async function compileStrictly(folder: string, args: readonly string[]): Promise<void> {
  const strict = ["--strict", "--exactOptionalPropertyTypes", "--skipLibCheck", "false"];
  const kind = ["--module", "nodenext", "--target", "es2023"];
  const compiler = join(repositoryFolder, "node_modules/typescript/bin/tsc");
  await run(process.execPath, [compiler, ...strict, ...kind, ...args], { cwd: folder }).catch(
    ({ stdout }: { stdout: string }) => assert.fail(stdout),
  );
}
