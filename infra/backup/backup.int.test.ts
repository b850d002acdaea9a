import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { access, appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { topics } from "@signalbox/contracts";
import { systemClock } from "@signalbox/core";
import { type EventLog, openEventLog } from "@signalbox/events";
import { createLogger, createMetrics } from "@signalbox/runtime";
import { libraryMigrations } from "@signalbox/service";
import { migrate, openObjectStore } from "@signalbox/storage";
import { eventually, startProcess, testDatabase } from "@signalbox/testing";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import pg from "pg";

const owners = ["account", "config", "images", "webhook-delivery", "webhook-ingest"] as const;
const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());

const parts = {
  clock: systemClock,
  log: createLogger({ service: "images", instance: "test", level: "silent" }),
  metrics: createMetrics({ service: "images" }),
};

/** Engines without any process of ours. */
interface House {
  readonly properties: Readonly<Record<string, string>>;
  readonly blobsUrl: string;
  query(service: (typeof owners)[number], text: string): Promise<Record<string, unknown>[]>;
  readonly eventLog: EventLog;
}

async function openHouse(): Promise<House> {
  const folder = await newFolder();
  const [log, ...databases] = await Promise.all(["log", ...owners].map(() => testDatabase()));
  const eventsUrl = log?.url ?? "";
  const urls = new Map(owners.map((service, index) => [service, databases[index]?.url ?? ""]));
  const eventLog = await openEventLog(eventsUrl, { clientId: "test", ...parts });
  opened.defer(async () => {
    await eventLog.close();
    await Promise.all([log, ...databases].map(async (database) => database?.close()));
  });
  const variable = (service: string) => `SIGNALBOX_${service.toUpperCase().replaceAll("-", "_")}_DATABASE_URL`;
  const blobsUrl = `file:${folder}/store`;
  return {
    properties: {
      ...Object.fromEntries([...urls].map(([service, url]) => [variable(service), url])),
      SIGNALBOX_EVENTS_URL: eventsUrl,
      SIGNALBOX_BLOBS_URL: blobsUrl,
    },
    blobsUrl,
    eventLog,
    async query(service, text) {
      const client = new pg.Client({ connectionString: urls.get(service) });
      await client.connect();
      return await client
        .query(text)
        .then(({ rows }) => rows)
        .finally(() => client.end());
    },
  };
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-backup-"));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const begin = (house: House, ...args: string[]) =>
  startProcess(join(import.meta.dirname, "backup.ts"), args, { ...house.properties });

async function backup(house: House, ...args: string[]): Promise<string> {
  const command = begin(house, ...args);
  const { code } = await command.exited;
  if (code !== 0) throw new Error(command.stderr);
  return command.stdout;
}

const bytes = randomBytes(300_000);
const sha256 = createHash("sha256").update(bytes).digest("hex");
const original = `originals/acc_1/${sha256}`;
/** Values that must be restored exactly: null and JSON's null, control characters, and a time in microseconds. */
const overrides = `select name, value is null as absent, value::text, reason, changed_at::text, revision::text
  from property_overrides order by name`;
const record = { topic: "signalbox.image.v1", key: "img_1", headers: { ce_id: "one" } };

let house: House;

before(async () => {
  house = await openHouse();
  for (const service of owners) {
    const prismaDirectory = join(import.meta.dirname, "../../services", service, "prisma");
    const url = house.properties[`SIGNALBOX_${service.toUpperCase().replaceAll("-", "_")}_DATABASE_URL`] ?? "";
    await migrate({ url, service, prismaDirectory, libraryMigrations, log: parts.log });
  }
  await house.query(
    "config",
    `update revision_counter set revision = 7;
     insert into property_overrides (name, value, revision, actor, reason, changed_at) values
       ('a.null', 'null', 6, 'acc_1', E'tab\\t, back\\\\slash,\\nline, \\\\N, ü', '2026-01-31T12:00:00.123Z'),
       ('b.absent', null, 7, 'acc_1', null, '2026-01-31T12:00:00Z')`,
  );
  await house.query(
    "images",
    `insert into originals values ('acc_1', '${sha256}', ${bytes.length}, 'image/jpeg', now());
     insert into signalbox.outbox (event_id, shard, topic, key, headers, payload)
       values ('0193a6b0-0000-7000-8000-000000000001', 1, 'signalbox.image.v1', 'img_1', '{}', '\\x00ff')`,
  );
  await house.query(
    "webhook-delivery",
    `create table signalbox.deliveries_20260131 partition of public.deliveries for values
       from ('2026-01-31') to ('2026-02-01') with (fillfactor = 80);
     insert into deliveries (id, created_at, endpoint_id, account_id, event_id, event_type, status, attempts)
       values ('dlv_1', '2026-01-31T12:00:00Z', 'whe_1', 'acc_1', 'evt_1', 'image.created', 'pending', 0)`,
  );
  const objects = await openObjectStore({
    url: house.blobsUrl,
    accessKey: null,
    secretKey: null,
    runner: { defer: () => {} },
    log: parts.log,
  });
  await objects.put(original, bytes, { size: bytes.length, contentType: "image/jpeg" });
  await house.eventLog.ensureTopics(topics);
  await house.eventLog.publish([
    { ...record, value: Buffer.from([0, 255]) },
    { ...record, value: null },
    { topic: "signalbox.config.v1", key: "a.null", headers: {}, value: Buffer.from("{}") },
  ]);
});

test("a restored backup equals what was taken: rows, sequences, days, events and bytes", async () => {
  const folder = join(await newFolder(), "backup");
  assert.match(await backup(house, "take", folder), /5 databases with \d+ rows, 3 events, 1 blobs with 0\.3 MiB/);
  assert.match(await backup(house, "verify", folder), /is complete/);
  const empty = await openHouse();
  await backup(empty, "restore", folder);

  assert.deepEqual(await empty.query("config", overrides), await house.query("config", overrides));
  assert.deepEqual(await empty.query("config", "select revision::int from revision_counter"), [{ revision: 7 }]);
  const nextId =
    "insert into signalbox.outbox (event_id, shard, topic, key, headers) values (gen_random_uuid(), 1, 't', 'k', '{}') returning id::int";
  assert.deepEqual(await empty.query("images", "select payload from signalbox.outbox"), [
    { payload: Buffer.from([0, 255]) },
  ]);
  assert.deepEqual(await empty.query("images", nextId), [{ id: 2 }], "an id is not assigned twice");
  const days = "select reloptions from pg_class where relname = 'deliveries_20260131'";
  assert.deepEqual(await empty.query("webhook-delivery", days), [{ reloptions: ["fillfactor=80"] }]);
  assert.equal((await empty.query("webhook-delivery", "select 1 from signalbox.deliveries_20260131")).length, 1);
  const objects = await openObjectStore({
    url: empty.blobsUrl,
    accessKey: null,
    secretKey: null,
    runner: { defer: () => {} },
    log: parts.log,
  });
  assert.equal((await objects.head(original))?.size, bytes.length);
  assert.deepEqual(await recordsOf(empty.eventLog), await recordsOf(house.eventLog));

  await assert.rejects(backup(empty, "restore", folder), /the event log is not empty/);
});

test("restoring a damaged or incomplete backup, or into used engines, is refused before any change", async () => {
  const folder = join(await newFolder(), "backup");
  await backup(house, "take", folder);
  await assert.rejects(backup(house, "take", folder), /is not empty: give each backup a folder of its own/);
  const mixed = await openHouse();
  await assert.rejects(
    backup(
      {
        ...mixed,
        properties: {
          ...mixed.properties,
          SIGNALBOX_BLOBS_URL: house.blobsUrl,
          SIGNALBOX_CONFIG_DATABASE_URL: house.properties.SIGNALBOX_CONFIG_DATABASE_URL ?? "",
        },
      },
      "restore",
      folder,
    ),
    /the database of config is not empty: public\.property_overrides/,
  );
  assert.deepEqual(await mixed.query("account", "select 1 from signalbox.inbox"), []);
  const empty = await openHouse();
  await appendFile(join(folder, "blobs", original), "x");
  await assert.rejects(backup(empty, "restore", folder), /blobs\/originals\/acc_1\/\w+ in .* is damaged/);
  await rm(join(folder, "manifest.json"));
  await assert.rejects(
    backup(empty, "restore", folder),
    /is not a complete backup: manifest\.json, which is written last/,
  );
  assert.deepEqual(await empty.query("account", "select 1 from pg_class where relname = 'accounts'"), []);
});

test("a killed backup is incomplete", async () => {
  const folder = join(await newFolder(), "backup");
  const url = house.properties.SIGNALBOX_CONFIG_DATABASE_URL;
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  await other.query("begin; lock table property_overrides in access exclusive mode");
  const command = begin(house, "take", folder);
  await eventually(() => access(join(folder, "blobs", original)));
  await command.kill();
  await other.end();
  await assert.rejects(backup(house, "restore", folder), /is not a complete backup/);
});

test("a backup includes a running change but none that starts later", async () => {
  const folder = join(await newFolder(), "backup");
  const other = new pg.Client({ connectionString: house.properties.SIGNALBOX_ACCOUNT_DATABASE_URL });
  await other.connect();
  const insert = (id: string) =>
    `insert into signalbox.inbox (consumer, event_id) values ('test', '0193a6b0-0000-7000-8000-00000000000${id}')`;
  await other.query(`begin; ${insert("1")}`);
  const command = begin(house, "take", folder);
  const isHeld =
    "select 1 from pg_locks where mode = 'ShareLock' and not granted and database = (select oid from pg_database where datname = current_database())";
  await eventually(async () => assert.equal((await house.query("account", isHeld)).length, 1));
  await other.query("commit");
  assert.equal((await command.exited).code, 0, command.stderr);
  await other.query(insert("2"));
  await other.end();
  const empty = await openHouse();
  await backup(empty, "restore", folder);
  const inbox = await empty.query("account", "select right(event_id::text, 1) as id from signalbox.inbox");
  assert.deepEqual(inbox, [{ id: "1" }]);
});

test("a scheduled backup is encrypted, verified by a restore and deduplicated against the one before", async () => {
  const identity = await generateX25519Identity();
  const recipients = await identityToRecipient(identity);
  const { SIGNALBOX_CONFIG_DATABASE_URL: scratchUrl = "" } = house.properties;
  const keys = { SIGNALBOX_BACKUP_RECIPIENTS: recipients, SIGNALBOX_BACKUP_IDENTITIES: identity };
  const kept = {
    SIGNALBOX_BACKUP_SCRATCH_URL: scratchUrl,
    SIGNALBOX_BACKUP_KEEP_LAST: "2",
    SIGNALBOX_BACKUP_KEEP_DAYS: "0",
  };
  const watched: House = { ...house, properties: { ...house.properties, ...keys, ...kept } };
  const root = await newFolder();
  const names = async () => (await readdir(root)).toSorted();
  const blobOf = (name = "") => join(root, name, "blobs", `${original}.age`);
  const noted = () =>
    house.query(
      "config",
      "select name, verified_at is not null and restored_at is not null as whole from backups order by name",
    );

  await mkdir(join(root, "2020-01-01T000000Z", "blobs"), { recursive: true }); // a run that was killed
  await mkdir(join(root, "monday")); // of somebody else
  assert.match(await backup(watched, "run", root), /verified by a restore of its databases.*5 databases/);
  await backup(watched, "run", root);
  const [first, second, ...others] = await names();
  assert.deepEqual(others, ["monday"]);
  assert.deepEqual(await noted(), [
    { name: first, whole: true },
    { name: second, whole: true },
  ]);
  assert.equal((await stat(blobOf(second))).nlink, 2, "the bytes are on the disk once");
  assert.equal((await readFile(blobOf(second))).indexOf(bytes.subarray(0, 64)), -1);
  const leftovers = await house.query(
    "config",
    "select datname from pg_database where datname like 'signalbox_backup_check%'",
  );
  assert.deepEqual(leftovers, []);

  const backupPath = join(root, second ?? "");
  await assert.rejects(backup(await openHouse(), "restore", backupPath), /is encrypted: give its identity/);
  const empty = await openHouse();
  await backup({ ...empty, properties: { ...empty.properties, ...keys } }, "restore", backupPath);
  assert.deepEqual(await empty.query("config", overrides), await house.query("config", overrides));

  await appendFile(blobOf(second), "rotten");
  await backup(watched, "run", root);
  const [kept1, third] = await names();
  assert.deepEqual([kept1, (await noted()).map(({ name }) => name)], [second, [second, third]], "the oldest is gone");
  assert.equal((await stat(blobOf(third))).nlink, 1, "what is damaged is not shared");
});

async function recordsOf(eventLog: EventLog) {
  const found: string[] = [];
  const reader = await eventLog.broadcast({
    service: "test",
    instance: "reader",
    topics: topics.map(({ name }) => name),
    from: "start",
    onRecord: ({ topic, key, headers, value }) => void found.push(JSON.stringify({ topic, key, headers, value })),
  });
  await reader.caughtUp;
  await reader.close();
  return found.toSorted();
}
