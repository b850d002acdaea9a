import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { enginesFolder, repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";

const run = promisify(execFile);

export interface Clone {
  readonly folder: string;
  remove(): Promise<void>;
}

/**
 * Clones the repository into another folder, as a reader has it after the first command: changes there, and the
 * servers' data, stay separate. Packages and engines are shared.
 */
export async function cloneRepository(): Promise<Clone> {
  // Updates the packages, as every command does, so that the clone need not.
  await run(process.execPath, ["infra/tasks/run.mjs", "--version"], { cwd: repositoryFolder });
  const folder = await mkdtemp(join(tmpdir(), "signalbox-clone-"));
  const list = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
  const { stdout } = await run("git", list, { cwd: repositoryFolder, maxBuffer: 64 * 1024 * 1024 });
  const files = stdout.split("\0").filter(Boolean);
  await Promise.all([...files, ...(await generatedFolders())].map((path) => copy(path, folder)));
  await symlink(enginesFolder, join(folder, ".engines"));
  await shareModules(folder);
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

async function generatedFolders(): Promise<string[]> {
  const services = await readdir(join(repositoryFolder, "services"));
  return services.map((name) => `services/${name}/src/generated`);
}

async function copy(path: string, folder: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await cp(join(repositoryFolder, path), join(folder, path), { recursive: true }).catch(orWhenMissing);
}

/** Links our packages into the clone, and the others to their installation. */
export async function shareModules(folder: string): Promise<void> {
  const holders = ["", ...(await foldersOfPackages())];
  for (const holder of holders) {
    const from = join(repositoryFolder, holder, "node_modules");
    const names = await readdir(from).catch(() => []);
    if (names.length === 0) continue;
    const to = join(folder, holder, "node_modules");
    await mkdir(to, { recursive: true });
    for (const name of names) {
      if (name === "@signalbox")
        await cp(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
      else if (name === ".cache") await copy("node_modules/.cache/signalbox/set-up.json", folder);
      else await symlink(join(from, name), join(to, name));
    }
  }
}

async function foldersOfPackages(): Promise<string[]> {
  const groups = ["libs", "services"];
  const inGroups = await Promise.all(
    groups.map(async (group) => (await readdir(join(repositoryFolder, group))).map((name) => `${group}/${name}`)),
  );
  return [...inGroups.flat(), "infra", "bench", "test-e2e"];
}

function orWhenMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
