import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { appendFile, chmod, mkdtemp, rm } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { describeMissing, examine } from "@signalbox/infra/engines/doctor.ts";
import { engineNamed } from "@signalbox/infra/engines/engines.ts";
import { type OwnEngine, startOwnEngine } from "@signalbox/infra/engines/own-engines.ts";
import { startPostgres } from "@signalbox/infra/engines/postgres/start-postgres.ts";
import pg from "pg";
import { hurriedRules } from "../incidents/hurried-rules.ts";
import {
  nodeExporter,
  redisExporter,
  startExporter,
  startNodeExporter,
  startPostgresExporter,
} from "../incidents/start-exporters.ts";
import { mountDisk } from "../ledger/systems/mount-disk.ts";
import { fire } from "./alert-drill.ts";
import { type RunningPrometheus, startPrometheus } from "./start-prometheus.ts";

/** Failures of engines and disks that their exporters see, without a service. A disk is mounted, so it needs root. */
const opened = new AsyncDisposableStack();
let postgresUrl: string;
let redis: OwnEngine;
let disk: string;
let prometheus: RunningPrometheus;

before(async () => {
  const findings = await examine([redisExporter, nodeExporter]);
  assert.equal(await describeMissing(findings), "", "the exporters are installed");
  const [ofRedis = "", ofDisks = ""] = findings.map(({ command }) => command ?? "");
  const folder = await mkdtemp(join(tmpdir(), "signalbox-alerts-"));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  // PostgreSQL runs as another account where we are root, and would keep its data outside of a folder that is closed to it.
  await chmod(folder, 0o755);
  // Go's client refuses the single round of SCRAM that servers of tests have.
  const postgres = await startPostgres({ folder, durable: true });
  opened.defer(() => postgres.stop());
  postgresUrl = postgres.url("postgres");
  redis = await startOwnEngine(engineNamed("redis"));
  opened.defer(() => redis.close());
  disk =
    (await mountDisk(join(folder, "disk"), 512 * 2 ** 20, "ext4")) ?? assert.fail("a disk is mounted by root alone");
  opened.defer(() => promisify(execFile)("umount", [disk]).then(() => {}));
  const exporters = [
    await startPostgresExporter(postgresUrl),
    await startExporter(ofRedis, { args: [`-redis.addr=${redis.url}`], job: { job_name: "redis" } }),
    await startNodeExporter(ofDisks, disk),
  ];
  for (const exporter of exporters) opened.defer(() => exporter.close());
  const rules = hurriedRules("CacheFull", "DatabaseConnections", "DiskFills", "EngineDown", "LongTransaction");
  const jobs = exporters.map(({ job }) => job);
  prometheus = await startPrometheus(new Map(), jobs, { rules, everySeconds: 2 });
  opened.defer(() => prometheus.close());
});
after(() => opened.disposeAsync());

const idle = () => sleep(500);

/** Sends commands of Redis as a person does by telnet. */
async function tellRedis(...commands: readonly string[]): Promise<void> {
  const socket = createConnection(redis.port, "127.0.0.1");
  socket.end(`${[...commands, "QUIT"].join("\r\n")}\r\n`);
  assert.doesNotMatch(await text(socket), /^-/m);
}

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  return client;
}

test("a Redis with one value that fills it", async () => {
  await tellRedis("CONFIG SET maxmemory 8mb", "SETRANGE drill 7500000 x");
  await fire(prometheus, ["CacheFull"], { act: idle, mend: () => tellRedis("DEL drill") });
});

test("a Redis that ends", async () => {
  await redis.kill();
  await fire(prometheus, ["EngineDown"], { act: idle, mend: () => redis.restart() });
});

test("a client that takes most connections of PostgreSQL", async () => {
  const clients = await Promise.all(Array.from({ length: 265 }, connect));
  const mend = () => Promise.all(clients.map((client) => client.end()));
  await fire(prometheus, ["DatabaseConnections"], { act: idle, mend });
});

test("a session that somebody left open in a transaction", async () => {
  const client = await connect();
  await client.query("begin; create table drill ()");
  await fire(prometheus, ["LongTransaction"], { act: idle, mend: () => client.end() });
});

test("a disk that something fills slowly", async () => {
  const filler = join(disk, "filler");
  const act = async () => {
    await appendFile(filler, Buffer.alloc(2 ** 20));
    await idle();
  };
  await fire(prometheus, ["DiskFills"], { act, mend: () => rm(filler) });
});
