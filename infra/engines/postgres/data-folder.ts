import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chown, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readWhole, syncFolder, writeDurably } from "../durable-file.ts";
import { run, stopProcess } from "../processes.ts";
import { findPostmaster } from "./postmaster.ts";
import { type Account, type Place, type PostgresPrograms, postgresVersion } from "./server-account.ts";

/** The superuser of the server; its password is generated and kept beside the data. */
export const serverUser = "signalbox";

/**
 * Makes the data folder when there is none, and refuses one of another major version. `initdb` works in a folder beside
 * that is renamed at the end: what carries the name `data` is always whole.
 */
export async function prepareDataFolder({ folder, programs, account }: Place, durable: boolean): Promise<string> {
  const data = join(folder, "data");
  if (existsSync(data)) {
    await refuseOtherVersion(data, programs);
    if ((await findPassword(folder)) === null) await replacePassword({ folder, programs, account }, data);
    return data;
  }
  if ((await findPassword(folder)) === null) await keepPassword(folder, newPassword());
  await removeUnfinished(folder);
  const unfinished = await mkdtemp(join(folder, "data.unfinished-"));
  const passwordForServer = join(folder, "data.password");
  await writeFile(passwordForServer, await readPassword(folder), { mode: 0o600 });
  await giveTo(account, unfinished, passwordForServer);
  const args = [
    "-D",
    unfinished,
    `--username=${serverUser}`,
    `--pwfile=${passwordForServer}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--locale=C",
    // Each connection of a test makes this many rounds of a hash, at both ends; the default is 4,096.
    ...(durable ? [] : ["--no-sync", "--set=scram_iterations=1"]),
  ];
  await run(programs.initdb, args, { cwd: "/", ...account });
  await rm(passwordForServer);
  await rename(unfinished, data);
  if (durable) await syncFolder(folder);
  return data;
}

/** Paths of Unix sockets may be this long at most: `sun_path` of macOS, which is shorter than that of Linux, less its NUL. */
const socketPathMaxBytes = 103;

/**
 * Makes the folder of the server's Unix socket, which nobody but its account can enter. Gives null where there are no such
 * sockets (Windows) and where the path is too long for one.
 */
export async function prepareSocketFolder(folder: string, account: Account | undefined): Promise<string | null> {
  const sockets = join(folder, "sockets");
  const longest = Buffer.byteLength(join(sockets, ".s.PGSQL.65535.lock"));
  if (process.platform === "win32" || longest > socketPathMaxBytes) return null;
  await mkdir(sockets, { recursive: true, mode: 0o700 });
  await giveTo(account, sockets);
  return sockets;
}

/** An `initdb` whose starter was killed may still write; it fails once its folder is gone, and never shares that of another. */
async function removeUnfinished(folder: string): Promise<void> {
  const left = (await readdir(folder)).filter((name) => name.startsWith("data.unfinished"));
  for (const name of left) await rm(join(folder, name), { recursive: true, force: true, maxRetries: 10 });
}

/** The generated password of this server, readable by the account that started it and nobody else. */
export async function readPassword(folder: string): Promise<string> {
  const password = await findPassword(folder);
  if (password === null) throw new Error(`the password of the PostgreSQL in ${folder} is lost: start Signalbox there`);
  return password;
}

const passwordFile = (folder: string) => join(folder, "password");
const newPassword = () => randomBytes(24).toString("base64url");
const findPassword = (folder: string) => readWhole(passwordFile(folder), (text) => /^[\w-]{32}$/.test(text));
const keepPassword = (folder: string, password: string) => writeDurably(passwordFile(folder), password);

/**
 * Gives the server another password when the file with it is lost: the owner of the data needs none in single-user mode.
 * The file comes last, so that it never holds a password that the server does not know.
 */
async function replacePassword({ folder, programs, account }: Place, data: string): Promise<void> {
  const left = await findPostmaster(data);
  if (left) await stopProcess(left, "SIGINT", 30_000);
  const password = newPassword();
  const session = run(programs.postgres, ["--single", "-D", data, "postgres"], { cwd: "/", ...account });
  session.child.stdin?.end(`ALTER ROLE ${serverUser} PASSWORD '${password}'\n`);
  await session;
  await keepPassword(folder, password);
}

async function refuseOtherVersion(data: string, programs: PostgresPrograms): Promise<void> {
  const theirs = Number((await readFile(join(data, "PG_VERSION"), "utf8")).trim());
  const version = await postgresVersion(programs);
  const ours = Number.parseInt(version, 10);
  if (theirs === ours) return;
  const advice =
    theirs > ours
      ? "use the newer Signalbox that wrote it, or move the folder away to start empty"
      : `dump it with PostgreSQL ${theirs} and restore it, or move the folder away to start empty`;
  throw new Error(`the data folder ${data} is of PostgreSQL ${theirs}, this is PostgreSQL ${version}: ${advice}`);
}

async function giveTo(account: Account | undefined, ...paths: string[]): Promise<void> {
  if (!account) return;
  for (const path of paths) await chown(path, account.uid, account.gid);
}
