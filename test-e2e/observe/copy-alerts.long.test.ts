import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { appendFile, chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { type RunningPostgres, startPostgres } from "@signalbox/infra/engines/postgres/start-postgres.ts";
import kafkajs from "kafkajs";
import { hurriedRules } from "../incidents/hurried-rules.ts";
import { startKafkaExporter, startPostgresExporter } from "../incidents/start-exporters.ts";
import { type LedgerKafka, startKafkaCluster } from "../ledger/systems/kafka-cluster.ts";
import { execute, fire } from "./alert-drill.ts";
import { type RunningPrometheus, startPrometheus } from "./start-prometheus.ts";

/** Failures of the copies that engines keep: a standby of PostgreSQL, a partition of Kafka. */
const opened = new AsyncDisposableStack();
const slot = "copy";
let primaryUrl: string;
let standby: RunningPostgres;
let kafka: LedgerKafka;
let prometheus: RunningPrometheus;

before(async () => {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-copies-"));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  // PostgreSQL runs as another account where we are root, and would keep its data outside of a folder that is closed to it.
  await chmod(folder, 0o755);
  primaryUrl = await startCopied(folder);
  kafka = await startKafkaCluster();
  opened.defer(() => kafka.close());
  const ofPrimary = await startPostgresExporter(primaryUrl);
  const ofStandby = await startPostgresExporter(standby.url("postgres"));
  const ofKafka = await startKafkaExporter(kafka.addresses);
  for (const exporter of [ofPrimary, ofStandby, ofKafka]) opened.defer(() => exporter.close());
  const ofBoth = [...ofPrimary.job.static_configs, ...ofStandby.job.static_configs];
  const jobs = [{ ...ofPrimary.job, static_configs: ofBoth }, ofKafka.job];
  const rules = hurriedRules("PartitionsOffline", "ReplicationBehind");
  prometheus = await startPrometheus(new Map(), jobs, { rules, everySeconds: 2 });
  opened.defer(() => prometheus.close());
});
after(() => opened.disposeAsync());

/** Starts a server and a standby, which is made of the files of the stopped server and follows it by a slot. */
async function startCopied(folder: string): Promise<string> {
  const startIn = (name: string) => startPostgres({ folder: join(folder, name), durable: true });
  const original = await startIn("primary");
  await original.stop();
  await promisify(execFile)("cp", ["-a", original.folder, join(folder, "standby")]);
  const primary = await startIn("primary");
  opened.defer(() => primary.stop());
  const url = primary.url("postgres");
  await execute(url, "select pg_create_physical_replication_slot($1)", [slot]);
  const { hostname, port, username, password } = new URL(url);
  const conninfo = `host=${hostname} port=${port} user=${username} password=${password}`;
  const data = join(folder, "standby", "data");
  await appendFile(
    join(data, "postgresql.auto.conf"),
    `primary_conninfo = '${conninfo}'\nprimary_slot_name = '${slot}'\n`,
  );
  await writeFile(join(data, "standby.signal"), "");
  standby = await startIn("standby");
  opened.defer(() => standby.stop());
  await execute(url, "create table drill (id int)");
  return url;
}

const write = () => execute(primaryUrl, "insert into drill values (1)");

test("a standby that replays nothing more", async () => {
  await execute(standby.url("postgres"), "select pg_wal_replay_pause()");
  const mend = () => execute(standby.url("postgres"), "select pg_wal_replay_resume()");
  await fire(prometheus, ["ReplicationBehind"], { act: write, mend });
});

test("a standby that is away", async () => {
  await standby.stop();
  const mend = async () => assert.equal(await standby.revive(), true);
  await fire(prometheus, ["ReplicationBehind"], { act: write, mend });
});

test("a broker that is away with the only copy of a partition", async () => {
  const admin = new kafkajs.Kafka({ brokers: [...kafka.addresses], logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  const topics = [{ topic: "drill", replicaAssignment: [{ partition: 0, replicas: [3] }] }];
  await admin.createTopics({ topics, waitForLeaders: true });
  await admin.disconnect();
  await kafka.brokers[2]?.kill();
  const mend = () => kafka.brokers[2]?.restart() ?? Promise.reject();
  await fire(prometheus, ["PartitionsOffline"], { act: write, mend });
});
