import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readJson, writeDurably } from "../durable-file.ts";
import { withFileLock } from "../file-lock.ts";
import { unusedPort } from "../free-port.ts";
import {
  isRunning,
  type ProcessHandle,
  processIdentity,
  signalProcess,
  startDetached,
  stopProcess,
} from "../processes.ts";
import { prepareDataFolder, prepareSocketFolder, readPassword, serverUser } from "./data-folder.ts";
import { findPostmaster, isReady, type Postmaster } from "./postmaster.ts";
import { choosePlace, findPostgresPrograms, type Place } from "./server-account.ts";

export interface PostgresOptions {
  /** Holds data, password and log. As root, a folder that no unprivileged account can reach is replaced by another. */
  readonly folder: string;
  /** Taken when the server is started; a server that already runs keeps its own. */
  readonly port?: number;
  /** `false` gives up safety against power loss for speed: for tests only. */
  readonly durable: boolean;
  /** Holds the log instead of `folder`. */
  readonly logFolder?: string;
}

export type RunningPostgres = Awaited<ReturnType<typeof startPostgres>>;

/**
 * Starts PostgreSQL on a folder of its own, or attaches to the server that a killed predecessor left running there. The
 * server is detached: a Ctrl-C in the terminal does not reach it, so it is still there while the product drains.
 * Throws when the data are of another major version, and when a living process uses the folder.
 */
export async function startPostgres({ folder, port, durable, logFolder }: PostgresOptions) {
  const place = await choosePlace(folder, await findPostgresPrograms(), durable);
  const locked = <T>(work: () => Promise<T>) => withFileLock(join(place.folder, "start.lock"), 60_000, work);
  return await locked(async () => {
    await takeOwnership(place.folder);
    const data = await prepareDataFolder(place, durable);
    const left = await findPostmaster(data);
    const start = (port: number) => launch(place, { data, port, durable, logFolder: logFolder ?? place.folder });
    let server = left ?? (await start(port ?? (await unusedPort())));
    const password = await readPassword(place.folder);
    return {
      get pid() {
        return server.pid;
      },
      get identity() {
        return server.identity;
      },
      port: server.port,
      /** The folder really used. */
      folder: place.folder,
      /** True when the server was running already, left by a starter that died. */
      attached: left !== null,
      /** The URL of a database of this server, with credentials. */
      url: (database: string) => databaseUrl(server, password, database),
      /** Starts the server again, on its port, when it has ended without being asked to. Says whether it had. */
      async revive() {
        if (await isRunning(server)) return false;
        const { port } = server;
        server = await locked(async () => (await findPostmaster(data)) ?? (await start(port)));
        return true;
      },
      /** Fast shutdown: open transactions are rolled back. */
      async stop() {
        await stopProcess(server, "SIGINT", 30_000);
        await rm(ownerFile(place.folder), { force: true });
      },
      /** Immediate shutdown, without waiting: the next start recovers from the log. */
      stopAtOnce: () => signalProcess(server.pid, "SIGQUIT"),
    };
  });
}

/** The URL of a database of the server that runs on this folder. Throws when none does. */
export async function findPostgresUrl(folder: string, database: string): Promise<string> {
  const place = await choosePlace(folder, await findPostgresPrograms(), true);
  const server = await findPostmaster(join(place.folder, "data"));
  if (server === null) throw new Error(`no PostgreSQL runs on ${folder}`);
  return databaseUrl(server, await readPassword(place.folder), database);
}

/**
 * The URL of a database, by the Unix socket where there is one: a statement takes an eighth less time there and a fifth less
 * processor of the client than by TCP. The address stays in it for clients that can use TCP alone.
 */
function databaseUrl({ port, socketFolder }: Postmaster, password: string, database: string): string {
  const bySocket = socketFolder === null ? "" : `?host=${encodeURIComponent(socketFolder)}`;
  return `postgres://${serverUser}:${password}@127.0.0.1:${port}/${database}${bySocket}`;
}

/** @throws FolderInUseError when another living process uses this folder */
export async function refuseFolderInUse(folder: string): Promise<void> {
  await refuseOtherOwner((await choosePlace(folder, await findPostgresPrograms(), true)).folder);
}

const common = {
  listen_addresses: "127.0.0.1",
  unix_socket_permissions: "0700",
  max_connections: 300,
  timezone: "UTC",
  log_timezone: "UTC",
  // Compiling plans costs more than our short statements take.
  jit: "off",
};

/**
 * A killed server loses nothing by these; a machine without power does. `synchronous_commit` stays on: without it the
 * last commits are only in the server's own memory, and a test that kills the server would see acknowledged rows vanish.
 */
const fast = {
  fsync: "off",
  full_page_writes: "off",
  // The data of tests may lie in memory. Their databases live for seconds: vacuuming each of a hundred costs more than it saves.
  max_wal_size: "256MB",
  autovacuum: "off",
};

interface Launch {
  readonly data: string;
  readonly port: number;
  readonly durable: boolean;
  readonly logFolder: string;
}

async function launch(
  { folder, programs, account }: Place,
  { data, port, durable, logFolder }: Launch,
): Promise<Postmaster> {
  const logFile = join(logFolder, "postgres.log");
  if (existsSync(logFile)) await rename(logFile, join(logFolder, "postgres.previous.log"));
  const socketFolder = await prepareSocketFolder(folder, account);
  const unix_socket_directories = socketFolder ?? "";
  const settings = Object.entries({ port, unix_socket_directories, ...common, ...(durable ? {} : fast) });
  const args = ["-D", data, ...settings.flatMap(([name, value]) => ["-c", `${name}=${value}`])];
  const program = { command: programs.postgres, args, logFile, folder: "/", ...(account && { user: account }) };
  for (let attempt = 1; ; attempt++) {
    try {
      const started = { ...(await startDetached(program, () => isReady(data))), port, socketFolder };
      return (await findPostmaster(data)) ?? started;
    } catch (error) {
      // The starter before us was killed so early that the server it had started was not to be seen yet.
      const other = await findPostmaster(data);
      if (other) return other;
      // Sessions of a killed server go when their statement ends; until then its shared memory bars a new server.
      if (attempt === 20 || !String(error).includes("pre-existing shared memory block")) throw error;
      await sleep(500);
    }
  }
}

const ownerFile = (folder: string) => join(folder, "owner.json");

/** One process uses a folder at a time, or the first to stop would take the server from under the other. */
async function takeOwnership(folder: string): Promise<void> {
  await refuseOtherOwner(folder);
  const identity = await processIdentity(process.pid);
  await writeDurably(ownerFile(folder), JSON.stringify({ pid: process.pid, identity }));
}

async function refuseOtherOwner(folder: string): Promise<void> {
  const owner = await readJson<ProcessHandle>(ownerFile(folder));
  const isOther = owner?.pid && owner.identity && owner.pid !== process.pid;
  if (isOther && (await isRunning(owner))) throw new FolderInUseError(folder, owner.pid);
}

/** A living process uses the folder of this PostgreSQL. */
export class FolderInUseError extends Error {
  override readonly name = "FolderInUseError";
  readonly pid: number;

  constructor(folder: string, pid: number) {
    super(`the PostgreSQL in ${folder} is in use by the process ${pid}; stop that one first`);
    this.pid = pid;
  }
}
