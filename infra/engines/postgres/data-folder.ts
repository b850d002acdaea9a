import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type PostgresPrograms, postgresVersion } from "./postgres-programs.ts";
import type { Account, Place } from "./server-account.ts";

const run = promisify(execFile);

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
    return data;
  }
  const unfinished = join(folder, "data.unfinished");
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  const passwordFile = join(folder, "data.password");
  await writeFile(passwordFile, await readPassword(folder), { mode: 0o600 });
  await giveTo(account, unfinished, passwordFile);
  const args = [
    "-D",
    unfinished,
    `--username=${serverUser}`,
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--locale=C",
    ...(durable ? [] : ["--no-sync"]),
  ];
  await run(programs.initdb, args, { cwd: "/", ...account });
  await rm(passwordFile);
  await rename(unfinished, data);
  return data;
}

/** The generated password of this server, readable by the account that started it and nobody else. */
export async function readPassword(folder: string): Promise<string> {
  const file = join(folder, "password");
  if (!existsSync(file)) {
    await writeFile(file, randomBytes(24).toString("base64url"), { mode: 0o600 });
    await chmod(file, 0o600);
  }
  return await readFile(file, "utf8");
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
