import { existsSync } from "node:fs";
import { mkdir, statfs } from "node:fs/promises";
import type { Engine } from "../engine.ts";
import { freePort } from "../free-port.ts";
import { postgresAnswers } from "./postmaster.ts";
import { findPostgresPrograms, namedAfter, postgresVersion } from "./server-account.ts";
import { startPostgres } from "./start-postgres.ts";

/** PostgreSQL for tests: the programs of the npm package, without safety against power loss. */
export const postgres: Engine = {
  name: "postgres",
  stopSignal: "SIGINT",
  fetch: async () => `PostgreSQL ${await postgresVersion(await findPostgresPrograms())}`,
  async start({ folder, port: wanted }) {
    await mkdir(folder, { recursive: true });
    const server = await startPostgres({
      folder: (await memoryFolder(folder)) ?? folder,
      logFolder: folder,
      durable: false,
      port: wanted ?? (await freePort()),
    });
    const { pid, identity, port, folder: data } = server;
    return { name: "postgres", url: server.url("postgres"), port, pid, identity, folder: data, details: {} };
  },
  answers: postgresAnswers,
};

/** A file system in memory that Linux has; in containers it may be small. */
const sharedMemory = { path: "/dev/shm", type: 0x01021994, freeBytesMin: 4 * 2 ** 30 };

/**
 * A folder in memory for the data of this one, or null where there is no room. A database of a service is 600 files: on ext4
 * their creation and removal take half of the processor time that PostgreSQL needs for tests.
 */
async function memoryFolder(folder: string): Promise<string | null> {
  const { path, type, freeBytesMin } = sharedMemory;
  const inMemory = namedAfter(folder, path);
  // A restart finds the data again, however much room there is by then.
  if (existsSync(inMemory)) return inMemory;
  const found = await statfs(path).catch(() => null);
  const hasRoom = found?.type === type && found.bavail * found.bsize >= freeBytesMin;
  return hasRoom && process.availableMemory() >= freeBytesMin ? inMemory : null;
}
