import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { eventually, startProcess } from "@signalbox/testing";
import sharp from "sharp";
import { expectStatus } from "../journey/client.ts";
import { accountDeleted, openStuckMessages, type StuckMessages } from "../operations/stuck-messages.ts";
import { type AlertDrill, execute, lockTables, openAlertDrill } from "./alert-drill.ts";

/** Work that fails, while every service answers. */
let { system, send, fire, close }: AlertDrill = {} as never;
let stuck: StuckMessages;
before(async () => {
  const names = [
    "BackupOld",
    "EventsRefused",
    "ForbiddenTargets",
    "ImagesEndProcesses",
    "MessagesLost",
    "MessagesParked",
    "OutboxBloat",
    "Rebalances",
    "WorkerRestarts",
  ];
  ({ system, send, fire, close } = await openAlertDrill({
    names,
    properties: { "images.render.memory-max": "67108864" },
  }));
  stuck = await openStuckMessages(system);
});
after(async () => {
  await stuck.close();
  await close();
});

const operations = "/api/v1/operations";
const idle = () => sleep(500);

/** Acts on the only item of a collection, as an operator does who has read it. */
async function actOnOnly(collection: "dead-events" | "parked", action: string): Promise<void> {
  const { items } = expectStatus(await send(`${operations}/${collection}`), 200).json;
  assert.equal(items.length, 1);
  const [{ id, version }] = items;
  const path = `${operations}/${collection}/${encodeURIComponent(id)}/${action}`;
  expectStatus(await send(path, { body: {}, headers: { "if-match": `"${version}"` } }), 200);
}

test("an event that the log refuses for good", async () => {
  await stuck.refuseEvent();
  await fire(["EventsRefused"], { act: idle, mend: () => actOnOnly("dead-events", "replay") });
});

test("a consumer whose transaction fails for one message", async () => {
  const images = system.databaseUrl("images");
  await execute(
    images,
    `create function drill() returns trigger language plpgsql as $$ begin raise exception 'drill'; end $$;
     create trigger drill before insert on signalbox.inbox for each row execute function drill()`,
  );
  await stuck.refuseEvent();
  await actOnOnly("dead-events", "replay");
  const mend = async () => {
    await execute(images, "drop function drill cascade");
    await actOnOnly("parked", "retry");
  };
  await fire(["MessagesParked"], { act: idle, mend });
});

test("messages that expire while their consumer cannot work", async () => {
  const unlock = await lockTables(system.databaseUrl("images"));
  const { key } = accountDeleted();
  await stuck.eventLog.publish(Array.from({ length: 2_000 }, () => ({ ...accountDeleted(), key })));
  const ofTopic = `from signalbox.log_partition where id = partition_id and topic = 'signalbox.account.v1'`;
  await execute(system.eventsUrl, `update signalbox.log_record set timestamp_ms = 0 ${ofTopic}`);
  const old = "select from signalbox.log_record where timestamp_ms = 0";
  const isCleaned = async () => (await execute(system.eventsUrl, old)).length === 0;
  await eventually(isCleaned, { timeoutMs: 120_000, message: "the log is cleaned" });
  await unlock();
  await fire(["MessagesLost"], { act: idle, mend: async () => {} });
});

test("a consumer whose members come and go", async () => {
  const act = async () => {
    const [group, topics] = ["images.facts", ["signalbox.account.v1"]];
    const member = await stuck.eventLog.subscribe({ group, topics, handle: async () => undefined });
    await idle();
    await member.close();
  };
  await fire(["Rebalances"], { act, mend: async () => {} });
});

test("rolled-back transactions of a million events", async () => {
  const account = system.databaseUrl("account");
  await execute(account, "alter table signalbox.outbox set (autovacuum_enabled = false)");
  const write = "insert into signalbox.outbox (event_id, shard, topic, key, headers)";
  const events = "select gen_random_uuid(), 0, 'drill', 'drill', '{}' from generate_series(1, 100000)";
  for (let part = 0; part < 11; part++) await execute(account, `begin; ${write} ${events}; rollback`);
  const mend = async () => {
    await execute(account, "vacuum signalbox.outbox");
    await execute(account, "alter table signalbox.outbox reset (autovacuum_enabled)");
  };
  await fire(["OutboxBloat"], { act: idle, mend });
});

test("a worker whose table is missing", async () => {
  const ingest = system.databaseUrl("webhook-ingest");
  await execute(ingest, "alter table removed_sources rename to removed_by_mistake");
  const mend = () => execute(ingest, "alter table removed_by_mistake rename to removed_sources");
  await fire(["WorkerRestarts"], { act: idle, mend });
});

test("a caller that names internal addresses", async () => {
  const body = { source_url: "http://10.0.0.1/harbour.jpg" };
  const act = async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => send("/images", { body })));
    for (const { status } of answers) assert.ok(status === 422 || status === 429, `${status}`);
  };
  await fire(["ForbiddenTargets"], { act, mend: async () => {} });
});

test("images that take more memory than their process may have", async () => {
  const create = { width: 6_000, height: 6_000, channels: 3, background: "teal" } as const;
  // Of a progressive JPEG every coefficient is kept until the last scan.
  const bomb = await sharp({ create }).jpeg({ progressive: true, quality: 20 }).toBuffer();
  const upload = () => {
    const form = new FormData();
    form.set("file", new Blob([Buffer.from(bomb)], { type: "image/jpeg" }), "teal.jpg");
    return send("/images", { body: form });
  };
  const act = async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, upload));
    for (const { status } of answers) assert.ok(status === 422 || status === 429, `${status}`);
  };
  await fire(["ImagesEndProcesses"], { act, mend: async () => {} });
});

test("backups that are taken no more", async () => {
  await execute(
    system.databaseUrl("config"),
    `insert into backups (name, taken_at, release, bytes, verified_at)
     values ('of-yesterday', now() - interval '30 min', '0.2.0', 1, now())`,
  );
  const script = fileURLToPath(new URL("../../infra/backup/backup.ts", import.meta.url));
  const root = join(system.dataDirectory, "..", "backups");
  const mend = async () => {
    const backup = startProcess(script, ["run", root, `--embedded.data-directory=${system.dataDirectory}`]);
    assert.equal((await backup.exited).code, 0, backup.stderr);
  };
  await fire(["BackupOld"], { act: idle, mend });
});
