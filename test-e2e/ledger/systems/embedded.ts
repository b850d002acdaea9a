import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePort } from "@signalbox/infra/engines/free-port.ts";
import { findPostgresUrl, startPostgres } from "@signalbox/infra/engines/postgres/start-postgres.ts";
import { createPostgresLog } from "../witnesses/postgres-log.ts";
import { createQuery, ledgerProperties } from "./database.ts";
import { failingLookups } from "./failing-lookups.ts";
import { Instance } from "./instance.ts";
import type { LedgerSystem } from "./ledger-system.ts";
import { mountDisk } from "./mount-disk.ts";

const run = promisify(execFile);
const script = fileURLToPath(new URL("../../../infra/embedded/start.ts", import.meta.url));
const services = ["account", "images", "config", "webhook-ingest", "webhook-delivery"];
const blobDiskBytes = 64 * 2 ** 20;
/** Room for the databases and some segments of WAL. */
const databaseDiskBytes = 1_024 * 2 ** 20;

/**
 * Starts the system of `npm start`, with a durable PostgreSQL, on fixed ports: callers find it again after a restart.
 */
export async function startEmbeddedLedger(issuer: string): Promise<LedgerSystem> {
  const root = await mkdtemp(join(tmpdir(), "signalbox-ledger-"));
  // The database server runs under another account when this is root.
  await chmod(root, 0o755);
  const staging = join(root, "staging");
  await mkdir(staging);
  const ports = await Promise.all([freePort(), freePort()]);
  const [url, managementUrl] = ports.map((port) => `http://127.0.0.1:${port}`) as [string, string];
  let folder = join(root, "data-0");
  let disks = await mountDisks(folder);
  const dnsAwayFile = join(root, "dns-away");
  const everything = () =>
    new Instance({
      name: "everything",
      service: "embedded",
      script,
      args: argumentsOf({
        ...ledgerProperties(issuer, staging),
        "embedded.data-directory": folder,
        "http.port": String(ports[0]),
        "internal.port": "0",
        "management.server.port": String(ports[1]),
      }),
      environment: { NODE_OPTIONS: `--import=${failingLookups(dnsAwayFile)}` },
      url,
      managementUrl,
    });
  let instance = everything();
  await instance.ready();
  let administratorKey = await firstKey(folder);
  const databaseUrl = (name: string) => findPostgresUrl(join(folder, "postgres"), name);
  const query = createQuery(databaseUrl);

  const leave = async () => {
    await instance.kill();
    await stopDatabase(folder);
    for (const disk of Object.values(disks)) if (disk !== null) await run("umount", [disk]);
    await rm(folder, { recursive: true, force: true });
  };
  return {
    mode: "embedded",
    baseUrl: url,
    get administratorKey() {
      return administratorKey;
    },
    get instances() {
      return [instance];
    },
    query,
    databaseUrl,
    databases: new Map(services.map((name) => [name, `signalbox_${name.replaceAll("-", "_")}`])),
    log: createPostgresLog((statement, values) => query("signalbox_events", statement, values)),
    postgres: {
      kill: async () => process.kill(await postmasterPid(folder), "SIGKILL") && undefined,
      // The owning process restarts it by itself.
      restart: async () => void (await untilAnswered(query)),
    },
    kafka: null,
    redis: null,
    objects: null,
    between: null,
    certificate: null,
    get blobDisk() {
      return disks.blobs;
    },
    get databaseDisk() {
      return disks.database;
    },
    dnsAwayFile,
    get dataDirectory() {
      return folder;
    },
    stagingFolder: staging,
    async beginAgain(afterMs) {
      await leave();
      folder = join(root, `data-${crypto.randomUUID().slice(0, 8)}`);
      disks = await mountDisks(folder);
      const first = everything();
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      await first.kill();
      instance = everything();
      await instance.ready();
      administratorKey = await firstKey(folder);
    },
    close: async () => {
      await leave();
      await rm(root, { recursive: true, force: true });
    },
  };
}

const argumentsOf = (properties: Readonly<Record<string, string>>) =>
  Object.entries(properties).map(([name, value]) => `--${name}=${value}`);

const firstKey = async (folder: string) => (await readFile(join(folder, "first-key"), "utf8")).trim();

/** Mounts small file systems for the bytes and the database. */
async function mountDisks(folder: string) {
  return {
    blobs: await mountDisk(join(folder, "blobs"), blobDiskBytes),
    database: await mountDisk(join(folder, "postgres"), databaseDiskBytes, "ext4"),
  };
}

async function postmasterPid(folder: string): Promise<number> {
  return Number((await readFile(join(folder, "postgres", "data", "postmaster.pid"), "utf8")).split("\n")[0]);
}

async function untilAnswered(query: LedgerSystem["query"]): Promise<void> {
  const giveUpAt = performance.now() + 60_000;
  while (!(await query("postgres", "select 1").catch(() => null))) {
    if (performance.now() > giveUpAt) throw new Error("the database does not come back");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** After a kill the database server keeps running; it must be stopped here. */
async function stopDatabase(folder: string): Promise<void> {
  const place = join(folder, "postgres");
  const runs = await findPostgresUrl(place, "postgres").catch(() => null);
  if (runs !== null) await (await startPostgres({ folder: place, durable: true })).stop();
}
