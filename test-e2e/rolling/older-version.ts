import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { oldestVersion } from "@signalbox/storage";
import { shareModules } from "../tour/clone.ts";

const run = promisify(execFile);

/** Resolves a tag or a short name to its commit. */
export async function commitOf(name: string, folder = repositoryFolder): Promise<string> {
  const { stdout } = await run("git", ["rev-parse", "--short", `${name}^{commit}`], { cwd: folder });
  return stdout.trim();
}

/** Finds the newest tag of a release. Null before the first, and in a clone without tags. */
export async function newestTag(): Promise<string | null> {
  const { stdout } = await run("git", ["tag", "--list", "v*", "--sort=-version:refname"], { cwd: repositoryFolder });
  return stdout.split("\n")[0] || null;
}

/** The version that `package.json` has at a commit. */
export async function versionAt(commit: string): Promise<string> {
  const { stdout } = await run("git", ["show", `${commit}:package.json`], { cwd: repositoryFolder });
  return JSON.parse(stdout).version;
}

/** Finds the oldest commit whose databases upgrade: no migration was changed since. Null where a clone lacks that history. */
export async function oldestUpgradable(folder = repositoryFolder): Promise<string | null> {
  const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const oldest = async (...search: readonly string[]): Promise<string> => {
    const { stdout } = await run("git", ["log", "--format=%h", ...search], { cwd: folder });
    return stdout.split("\n")[0] ?? "";
  };
  const migrations = ["services/*/prisma/migrations/*.sql", "libs/*/migrations/*.sql"];
  const found =
    (await oldest("--max-count=1", "--diff-filter=MDR", "--", ...migrations)) ||
    (await oldest("--reverse", `-S"version": "${version}"`, "--", "package.json"));
  return found === "" || found === (await commitOf("HEAD", folder)) ? null : found;
}

/** Says why nothing rolls from this version to ours; null where something does. */
export function whyTooOld(version: string): string | null {
  if (version.localeCompare(oldestVersion, "en", { numeric: true }) >= 0) return null;
  return `It is version ${version}: databases from before ${oldestVersion} are not upgraded. Name a later commit.`;
}

/** Puts the version of a commit into an empty folder, ready to run. */
export async function checkOut(commit: string, folder: string): Promise<void> {
  await run("sh", ["-c", 'git archive "$1" | tar -x -C "$2"', "sh", commit, folder], { cwd: repositoryFolder });
  if (!(await hasPackagesOf(folder))) {
    // Runs the first step of every command of that version: it installs packages and generates files.
    await run(process.execPath, ["infra/tasks/run.mjs", "--version"], { cwd: folder });
    return;
  }
  await shareModules(folder);
  await run(process.execPath, ["infra/generate/run.ts", "--built"], { cwd: folder });
}

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly link?: boolean }>>;
}

/** Returns true when every package in the other version's lock file is installed here in that version. */
async function hasPackagesOf(folder: string): Promise<boolean> {
  const [theirs, ours] = await Promise.all([folder, repositoryFolder].map(lockOf));
  return Object.entries(theirs?.packages ?? {})
    .filter(([path, { link }]) => path.includes("node_modules/") && !link)
    .every(([path, { version }]) => ours?.packages[path]?.version === version);
}

const lockOf = async (folder: string): Promise<LockFile> =>
  JSON.parse(await readFile(join(folder, "package-lock.json"), "utf8"));
