import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Clock, createManualClock, minutes, seconds, systemClock } from "@signalbox/core";
import { openPool } from "@signalbox/storage";
import {
  eventually,
  freePort,
  internalToken,
  startProcess,
  type TestDatabase,
  type TestPerson,
  type TestProcess,
  testContext,
  testDatabase,
  testPerson,
} from "@signalbox/testing";
import { presets } from "@signalbox/webhook-signatures";
import { comparedSources, type TestSource } from "./compared-sources.ts";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import { type FakeGithub, githubKey, startFakeGithub } from "./sender-fakes.ts";
import { signedAs } from "./signing.ts";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const secret = "a secret of at least sixteen bytes";
const sent = 150;
let databases: TestDatabase[];
let github: FakeGithub;
let ingest: Harness | null;
beforeEach(async () => {
  databases = await Promise.all([testDatabase(), testDatabase()]);
  github = await startFakeGithub(systemClock, secret);
  ingest = null;
});
afterEach(async () => {
  await ingest?.close();
  await github.close();
  await Promise.all(databases.map((database) => database.close()));
});

const urls = () => ({ "database.url": databases[0]?.url ?? "", "events.url": databases[1]?.url ?? "" });
const start = (clock: Clock = systemClock) =>
  startIngest({ ...urls(), "webhook-ingest.outbound.allow": "127.0.0.1:*" }, { clock });

/** A source with a key, which was received for until some minutes ago. */
async function sourceBefore(who: TestPerson): Promise<TestSource> {
  const clock = createManualClock(new Date(Date.now() - minutes(10)));
  const before = await start(clock);
  const { setKey, ended } = comparedSources(before, clock);
  const source = await before.newSource(who, { scheme: "github", secret });
  // Time to compare, and not enough to count as an outage of its own.
  clock.advance(seconds(5));
  const place = { sender: "github", repository: "acme/shop", hook_id: 42, api_url: github.url };
  assert.equal((await setKey(who, source, { ...place, key: githubKey })).status, 200);
  await ended(who, source, "key");
  await before.close();
  return source;
}

async function startInstance(): Promise<TestProcess> {
  const process = startProcess(main, [], {
    SIGNALBOX_DATABASE_URL: urls()["database.url"],
    SIGNALBOX_EVENTS_URL: urls()["events.url"],
    SIGNALBOX_CACHE_URL: "memory:",
    SIGNALBOX_INTERNAL_TOKEN: internalToken,
    SIGNALBOX_ACCOUNT_INTERNAL_URL: "http://127.0.0.1:9",
    SIGNALBOX_SECRETS_KEYS: `test:${Buffer.alloc(32, 7).toString("base64")}`,
    SIGNALBOX_HTTP_PORT: "0",
    SIGNALBOX_MANAGEMENT_SERVER_PORT: String(await freePort()),
    SIGNALBOX_WEBHOOK_INGEST_OUTBOUND_ALLOW: "127.0.0.1:*",
  });
  await process.waitForOutput(/The service is ready/);
  return process;
}

test("a process that is killed amid a reconciliation is succeeded: nothing is lost, and nothing counts twice", async () => {
  const who = testPerson();
  const source = await sourceBefore(who);
  const at = new Date(Date.now() - minutes(5));
  for (let number = 1; number <= sent; number++) github.note(github.create(number), at);
  const asked = () => github.requests.filter((line) => /deliveries\/\d/.test(line)).length;
  const process = await startInstance();
  await eventually(() => asked() > 20);
  await process.kill();
  assert.ok(asked() < sent, "it was killed before its end");

  ingest = await start();
  const { ended, receivedOf } = comparedSources(ingest);
  const run = await ended(who, source, "outage");
  assert.deepEqual([run.status, run.listed, run.missed, run.recovered], ["completed", sent, sent, sent]);
  // At most the one that was under way is read again.
  assert.ok(asked() <= sent + 1, `${asked()} reads`);
  assert.equal((await receivedOf(who, source, "&origin=reconciled")).length, 100, "a full page");
  const events = await ingest.eventsOf(who.accountId, sent, "webhook.received");
  // The log has an event at least once, so that a relay that was killed may repeat one, under its id.
  assert.equal(new Set(events.map(({ id }) => id)).size, sent);
});

test("the successor of a process that is killed amid a retry of rejections counts equal webhooks once each", async () => {
  const [who, count] = [testPerson(), 120];
  const before = await start();
  // No id tells these webhooks apart: every post is one event.
  const { settings } = presets.dropbox;
  const source = await before.newSource(who, {
    preset: "dropbox",
    secret: "not the secret of the app",
    settings: { keep_rejected_bodies: true },
  });
  const webhook = signedAs({ settings }, secret, '{"list_folder":{"accounts":["dbid:A"]}}');
  for (let nth = 0; nth < count; nth++) assert.equal((await before.post(source, webhook)).status, 401);
  const path = `${sourcesPath}/${source.id}`;
  await before.send(who, "PATCH", path, { body: { secret } });
  const retry = (body: object) => before.send(who, "POST", `${path}/rejections/retry`, { body });
  await eventually(async () => assert.deepEqual((await retry({ dry_run: true })).body, { count }));
  const { body: started } = await retry({ rate: 150 });
  await before.close();

  const context = testContext("webhook-ingest", {});
  const pool = openPool({ ...context, url: urls()["database.url"], max: 1, applicationName: "watch" });
  const text = "select count(*)::int as count from received_deliveries where source_id = $1";
  const received = async () =>
    (await pool.query<{ count: number }>({ name: "", text }, [source.id])).rows[0]?.count ?? 0;
  const killed = await startInstance();
  await eventually(async () => (await received()) > 20);
  await killed.kill();
  assert.ok((await received()) < count, "it was killed before its end");

  ingest = await start();
  const { send } = ingest;
  const done = await eventually(async () => {
    const { body } = await send(who, "GET", `${path}/rejection-retries/${started.id}`);
    return body.status === "completed" && body;
  });
  assert.deepEqual([done.received + done.repeated, done.refused, await received()], [count, 0, count]);
  await context.close();
});
