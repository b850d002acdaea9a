import { cp, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { environment } from "@signalbox/runtime";
import { findProgram } from "../doctor.ts";
import { enginesFolder } from "../engine-folders.ts";
import { fetchOnce } from "../fetch-once.ts";
import { run } from "../processes.ts";

/** A program of ours in Go, of one file, around one library. */
interface GoProgram {
  /** Names it, with the version of its library: another one is built anew. */
  readonly name: string;
  readonly source: string;
  /** The library with its version. */
  readonly module: string;
}

/** Builds a program once for a clone, and returns its path. */
export async function fetchGoProgram({ name, source, module }: GoProgram): Promise<string> {
  const folder = join(enginesFolder, name);
  await fetchOnce(folder, async (target) => {
    await findProgram("go");
    const go = (...args: readonly string[]) => run("go", args, { cwd: target, env: environment() });
    await cp(source, join(target, "main.go"));
    await go("mod", "init", "program");
    await go("get", module);
    await go("mod", "tidy");
    await go("build", "-o", "program", ".");
  });
  return join(folder, "program");
}

/** Copies the source of a published module to a folder, so that it can be built as it stands. @throws EngineAbsentError */
export async function copyGoModule(folder: string, module: string): Promise<void> {
  await findProgram("go");
  await mkdir(folder);
  const { stdout } = await run("go", ["mod", "download", "-json", module], { cwd: folder, env: environment() });
  // The cache of modules is read-only.
  await run("cp", ["-R", `${JSON.parse(stdout).Dir}/.`, folder]);
  await run("chmod", ["-R", "u+w", folder]);
}

/** Builds a program of a published module, with the modules that it locks, as `program` of a folder. */
export async function buildGoModule(folder: string, module: string, path: string): Promise<void> {
  const source = join(folder, "source");
  await copyGoModule(source, module);
  await run("go", ["build", "-o", join(folder, "program"), path], { cwd: source, env: environment() });
  await rm(source, { recursive: true });
}

/** Runs a program with a text on standard input, and returns its output. @throws Error with its last lines */
export async function runWithInput(program: string, args: readonly string[], input: string): Promise<string> {
  const running = run(program, args, { encoding: "utf8" });
  running.child.stdin?.end(input);
  return (await running).stdout;
}
