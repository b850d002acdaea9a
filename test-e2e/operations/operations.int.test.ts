import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { newId } from "@signalbox/core";
import { decodeEvent } from "@signalbox/events";
import { tasksIn } from "@signalbox/infra/observe/test/runbook-commands.ts";
import { sql } from "@signalbox/storage";
import { eventually, startProcess } from "@signalbox/testing";
import { type EmbeddedSystem, newDataDirectory, removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
import { openStuckMessages, type StuckMessages } from "./stuck-messages.ts";

const base = "/api/v1/operations";
const commandsFolder = new URL("../../infra/kafka/", import.meta.url);
let system: EmbeddedSystem;
let stuck: StuckMessages;

before(async () => {
  const dataDirectory = await newDataDirectory();
  system = await startEmbeddedSystem({ dataDirectory });
  stuck = await openStuckMessages(system);
});
after(async () => {
  await stuck.close();
  await system.stop();
  await removeData(system);
});

interface Answer {
  readonly status: number;
  readonly etag: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of many forms, compared below.
  readonly body: any;
}

async function call(method: string, path: string, body?: object, headers: object = {}): Promise<Answer> {
  const answer = await fetch(system.baseUrl + path, {
    method,
    headers: { "x-api-key": system.apiKey, ...(body && { "content-type": "application/json" }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, etag: answer.headers.get("etag"), body: await answer.json() };
}
const get = (path: string) => call("GET", `${base}/${path}`);
const act = (path: string, body: object, version?: string) =>
  call("POST", `${base}/${path}`, body, version === undefined ? {} : { "if-match": `"${version}"` });
const idsIn = async (collection: string): Promise<string[]> =>
  (await get(collection)).body.items.map(({ id }: { id: string }) => id);

async function run(script: string, ...args: string[]) {
  const variables = { OPERATIONS_URL: system.baseUrl, OPERATIONS_KEY: system.apiKey };
  const command = startProcess(fileURLToPath(new URL(script, commandsFolder)), args, variables);
  const { code } = await command.exited;
  return { code, stdout: command.stdout, stderr: command.stderr };
}

const handled = sql("", "select from signalbox.inbox where consumer = 'images.facts' and event_id = $1");
const isHandled = async (id: string) => (await stuck.images.query(handled, [id])).rows.length === 1;

test("every instance is listed with its workers, every group with its members", async () => {
  const services = ["account", "config", "gateway", "image-worker", "images", "webhook-delivery", "webhook-ingest"];
  const { body } = await get("instances");
  assert.deepEqual(
    body.items.map(({ service }: { service: string }) => service),
    services,
  );
  assert.deepEqual([body.unavailable, body.items[0].state, body.items[0].lag_seconds], [[], "running", 0]);
  await eventually(async () => {
    const { items } = (await get("workers")).body;
    return items.some((one: { service: string; worker: string }) => one.worker === "outbox relay");
  });
  const groups = (await get("groups")).body.items as { group: string; members: unknown[]; parked: unknown }[];
  const jobs = groups.find(({ group }) => group === "image-worker.jobs");
  assert.deepEqual([jobs?.members.length, jobs?.parked], [1, null]);
  assert.ok(groups.some(({ group }) => group === "webhook-delivery.fan-out"));
  const { items } = (await get("outbox")).body;
  assert.deepEqual(
    items.map(({ service, dead }: { service: string; dead: number }) => [service, dead]),
    ["account", "images", "config", "webhook-ingest", "webhook-delivery"].map((name) => [name, 0]),
  );
});

test("a dead letter is read masked, replayed once as it was seen and traced in the audit", async () => {
  const { message, id } = await stuck.buryLetter();
  await eventually(async () => (await idsIn("dead-letters")).includes(id));
  const shown = await get(`dead-letters/${id}`);
  assert.equal(shown.body.event_id, message.headers.ce_id);
  assert.equal(shown.body.headers["x-unknown"], "******");
  assert.equal(shown.body.body.id, message.key);
  assert.doesNotMatch(JSON.stringify(shown.body), /abcdefgh/);
  assert.equal(shown.etag, `"${shown.body.version}"`);

  const path = `dead-letters/${id}/replay`;
  const dry = await act(path, { dry_run: true });
  assert.deepEqual([dry.status, dry.body.done, dry.body.dry_run, dry.body.target.id], [200, false, true, id]);
  const unseen = await act(path, {});
  assert.deepEqual([unseen.status, unseen.body.error.field], [400, "If-Match"]);
  const anything = await call("POST", `${base}/${path}`, {}, { "if-match": "*" });
  assert.deepEqual([anything.status, anything.body.error.field], [400, "If-Match"]);
  assert.equal((await act(path, {}, "another")).status, 409);
  assert.equal(await isHandled(message.headers.ce_id), false);

  const done = await act(path, {}, shown.body.version);
  assert.deepEqual([done.status, done.body.done], [200, true], JSON.stringify(done.body));
  assert.equal(done.body.effect, "The message was put back for images.facts, behind later messages of its key.");
  await eventually(() => isHandled(message.headers.ce_id));
  await eventually(async () => !(await idsIn("dead-letters")).includes(id));
  assert.equal((await act(path, {}, shown.body.version)).status, 404);

  await eventually(async () => {
    const { items } = (await call("GET", "/api/account/audit/?limit=50")).body;
    const actions = items.filter(({ subject }: { subject: string }) => subject === id);
    return actions.map(({ action }: { action: string }) => action).join() === "dead_letter.replay,dead_letter.read";
  });
});

test("a drop needs a reason; it is all that a letter of a consumer that is gone allows", async () => {
  const { id } = await stuck.buryLetter("images.gone");
  await eventually(async () => (await idsIn("dead-letters")).includes(id));
  const { version } = (await get(`dead-letters/${id}`)).body;
  const replayed = await act(`dead-letters/${id}/replay`, {}, version);
  assert.deepEqual([replayed.status, /drop the dead letter/.test(replayed.body.error.message)], [409, true]);
  const bare = await act(`dead-letters/${id}/drop`, {}, version);
  assert.deepEqual([bare.status, bare.body.error.details[0].field], [400, "reason"]);
  assert.equal((await act(`dead-letters/${id}/drop`, { reason: "Gone.", dry_run: false }, version)).status, 200);
  await eventually(async () => !(await idsIn("dead-letters")).includes(id));
});

test("images answers for its worker: a job that the worker gave up is dropped by its id", async () => {
  const { id } = await stuck.buryLetter("image-worker.jobs", "image-worker");
  const listed = () => get("dead-letters?service=image-worker");
  await eventually(async () => (await listed()).body.items.some((one: { id: string }) => one.id === id));
  assert.deepEqual((await get("dead-letters?service=images")).body.items, []);
  const { version } = (await get(`dead-letters/${id}`)).body;
  assert.equal((await act(`dead-letters/${id}/drop`, { reason: "Its image is gone." }, version)).status, 200);
  await eventually(async () => (await listed()).body.items.length === 0);
});

test("dead events are read in pages; each is published again under its id", async () => {
  const refused = [await stuck.refuseEvent(), await stuck.refuseEvent(), await stuck.refuseEvent()];
  const [first, second, third] = refused.map(({ id }) => id) as [string, string, string];
  const found: string[] = [];
  let ofThis = "";
  for (let cursor = ""; ; ) {
    const { body } = await get(`dead-events?limit=1${cursor}`);
    ofThis ||= body.next_cursor;
    found.push(...body.items.map(({ id }: { id: string }) => id));
    if (!body.has_more) break;
    cursor = `&cursor=${body.next_cursor}`;
  }
  assert.deepEqual(found, [first, second, third]);
  const wrong = [
    "dead-events?cursor=rubbish",
    `parked?cursor=${ofThis}`,
    `dead-events?service=images&cursor=${ofThis}`,
  ];
  for (const path of wrong) {
    const { status, body } = await get(path);
    assert.deepEqual([status, body.error?.details[0].field], [400, "cursor"], path);
  }

  const published: string[] = [];
  const reader = await stuck.eventLog.broadcast({
    service: "images",
    instance: newId("test"),
    topics: ["signalbox.account.v1"],
    from: "end",
    onRecord: (record) => void published.push(decodeEvent("account.deleted", record).id),
  });
  await reader.caughtUp;
  const version = async (id: string) => (await get(`dead-events/${id}`)).body.version;
  const seen = await version(first);
  const both = await Promise.all([1, 2].map(() => act(`dead-events/${first}/replay`, {}, seen)));
  assert.equal(both.filter(({ status }) => status === 200).length, 1, "one of two replays has its effect");
  await eventually(() => published.length === 1);
  assert.deepEqual(published, [refused[0]?.message.headers.ce_id]);
  await reader.close();

  const dropped = await run("dead-events.ts", "drop", second, "--reason", "Nobody misses it.");
  assert.deepEqual([dropped.code, dropped.stdout], [0, `${second}: The message was removed for good.\n`]);
  const last = await run("dead-events.ts", "replay-all", "images", "--dry-run");
  assert.match(last.stdout, new RegExp(`^${third}: The message would be put back`));
  assert.deepEqual(await idsIn("dead-events"), [third]);
});

test("a parked key is read with the masked message that blocks it, its queue in pages", async () => {
  const { id, key, eventIds } = await stuck.parkTwo();
  const path = `parked/${encodeURIComponent(id)}`;
  const { body, etag } = await get(path);
  assert.deepEqual([body.id, body.event_id, body.messages, body.attempts], [id, eventIds[0], 2, 1]);
  assert.deepEqual([body.body.id.startsWith("acc_"), body.headers["x-unknown"]], [true, "******"]);
  assert.ok(body.bytes > 0 && body.partition === 0, JSON.stringify(body));
  assert.equal(etag, `"${body.version}"`);

  const first = (await get(`${path}/messages?limit=1`)).body;
  const second = (await get(`${path}/messages?limit=1&cursor=${first.next_cursor}`)).body;
  const [blocking, behind] = [...first.items, ...second.items];
  assert.deepEqual([blocking.event_id, behind.event_id], eventIds);
  assert.deepEqual([blocking.event_type, blocking.attempts, behind.attempts], ["account.deleted.v1", 1, 0]);
  assert.deepEqual([first.has_more, second.has_more], [true, false]);
  const rubbish = Buffer.from(JSON.stringify(["2026-01-01T00:00:00.000Z", "no.place"])).toString("base64url");
  for (const cursor of ["rubbish", rubbish]) {
    const { status, body: refused } = await get(`${path}/messages?cursor=${cursor}`);
    assert.deepEqual([status, refused.error.details[0].field], [400, "cursor"]);
  }

  for (const missing of ["images.facts:none", "images.gone:x", `images.facts:${key}x`]) {
    assert.equal((await get(`parked/${missing}`)).status, 404, missing);
    assert.equal((await get(`parked/${missing}/messages`)).status, 404, missing);
  }
  await eventually(async () => {
    const { items } = (await call("GET", "/api/account/audit/?limit=50")).body;
    return items.some(
      (one: { subject: string; action: string }) => one.subject === id && one.action.endsWith("_key.read"),
    );
  });
  assert.equal((await act(`${path}/retry`, {}, body.version)).status, 200);
  await eventually(async () => (await get(path)).status === 404);
});

test("a parked key is tried now on request", async () => {
  const { id, eventIds } = await stuck.parkTwo();
  const [key] = (await get("parked")).body.items;
  assert.deepEqual([key.id, key.messages, key.attempts, key.reason], [id, 2, 1, "Error: not yet"]);
  const path = `parked/${encodeURIComponent(id)}/retry`;
  assert.equal((await act(path, {}, "another")).status, 409);
  assert.equal((await act(path, {}, key.version)).status, 200);
  await eventually(async () => (await Promise.all(eventIds.map(isHandled))).every(Boolean));
  assert.deepEqual(await idsIn("parked"), []);
});

test("a skipped message becomes a dead letter while those behind it go on", async () => {
  const { id, key, eventIds } = await stuck.parkTwo();
  const [{ version }] = (await get("parked")).body.items;
  const path = `parked/${encodeURIComponent(id)}/skip`;
  assert.equal((await act(path, {}, version)).status, 400);
  const skipped = await act(path, { reason: "Its account is gone." }, version);
  assert.equal(skipped.body.effect, "The message was moved to the dead letters; 1 behind it go on.");
  await eventually(() => isHandled(eventIds[1] as string));
  assert.equal(await isHandled(eventIds[0] as string), false);
  await eventually(async () => {
    const { items } = (await get("dead-letters")).body;
    const letter = items.find((one: { key: string }) => one.key === key);
    return letter?.reason === "skipped by an operator: Its account is gone.; before: Error: not yet";
  });
});

test("the commands work by the API alone", async () => {
  const { id } = await stuck.buryLetter();
  await eventually(async () => (await run("dead-letters.ts", "list", "images")).stdout.includes(id));
  assert.match((await run("dead-letters.ts", "show", id)).stdout, /ce_type: account\.deleted\.v1\n/);
  const replayed = await run("dead-letters.ts", "replay", id);
  assert.deepEqual([replayed.code, replayed.stderr], [0, ""]);
  assert.match(
    (await run("dead-letters.ts", "replay", "images.facts:none:0:0")).stderr,
    /There is no such dead letter/,
  );
  const { id: parked, eventIds } = await stuck.parkTwo();
  assert.ok(
    (await run("parked.ts", "list", "images")).stdout.includes(`${parked}  account.deleted.v1  ${eventIds[0]}`),
  );
  const shown = (await run("parked.ts", "show", parked)).stdout;
  assert.match(shown, new RegExp(`"changed":\\[\\]}\n.*\n.*${eventIds[0]}  tries 1\n.*${eventIds[1]}  tries 0\n$`));
  assert.equal((await run("parked.ts", "skip", parked)).code, 2, "a skip needs a reason");
  const skipped = await run("parked.ts", "skip", parked, "--reason", "Nobody misses it.", "--dry-run");
  assert.match(skipped.stdout, /: The message would be moved to the dead letters; 1 behind it go on\.\n$/);
  assert.deepEqual((await run("parked.ts", "retry", parked)).code, 0);
  await eventually(async () => (await Promise.all(eventIds.map(isHandled))).every(Boolean));
  // The replayed letter is a message behind until its consumer has had it again.
  const settled = /^images\.facts {2}lag 0 messages, .* members 1 {2}parked 0$/m;
  await eventually(async () => settled.test((await run("groups.ts", "list")).stdout));
});

test("every task that a runbook names runs from a shell in the image", async () => {
  const tasks = tasksIn(await readFile(new URL("../../docs/runbooks.md", import.meta.url), "utf8"));
  assert.ok(tasks.length >= 7, tasks.join());
  const script = fileURLToPath(new URL("../../infra/docker/signalbox-ops.sh", import.meta.url));
  const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`;
  const ask = (words: readonly string[], more: object) =>
    promisify(execFile)(script, [...words], { env: { PATH, OPERATIONS_URL: system.baseUrl, ...more } });
  for (const task of tasks) await ask(task.split(" "), { OPERATIONS_KEY: system.apiKey });
  const { stdout } = await ask(["instances"], { SIGNALBOX_EMBEDDED_DATA_DIRECTORY: system.dataDirectory });
  assert.match(stdout, /"service":\s?"gateway"/, "the first key is that of the small deployment");
  await assert.rejects(ask(["reboot"], {}), { code: 2 });
});

test("backups are listed once one was taken and checked, with their age as a metric", async () => {
  assert.deepEqual((await get("backups")).body, { items: [], is_watched: false, unavailable: [] });
  const root = join(system.dataDirectory, "..", "backups");
  const args = ["run", root, `--embedded.data-directory=${system.dataDirectory}`];
  const run = startProcess(fileURLToPath(new URL("../../infra/backup/backup.ts", import.meta.url)), args);
  assert.equal((await run.exited).code, 0, run.stderr);
  const { body } = await get("backups");
  const [{ name, bytes, age_seconds, verified_at, restored_at }] = body.items;
  assert.deepEqual([body.is_watched, body.items.length, restored_at], [true, 1, null]);
  assert.deepEqual(await readdir(root), [name]);
  assert.ok(bytes > 0 && age_seconds < 120 && Date.parse(verified_at) > 0, JSON.stringify(body));
  const metrics = await (await fetch(`${system.managementUrl}/management/metrics`)).text();
  assert.match(metrics, /^signalbox_backup_age_seconds\{.*service="config".*\} \d+$/m);
});

test("nobody without the scopes sees or changes anything", async () => {
  const scopes = ["account:read", "config:admin", "management:read", "operations:read"];
  const created = await call("POST", "/api/account/api-keys", { name: "reader", scopes });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const as = (key: string) => ({ "x-api-key": key });
  const reader = as(created.body.key);
  assert.equal((await call("GET", `${base}/groups`, undefined, reader)).status, 200);
  assert.equal((await call("POST", `${base}/dead-letters/images.facts:a:0:0/replay`, {}, reader)).status, 403);
  const other = await call("POST", "/api/account/api-keys", { name: "other", scopes: ["account:read", "config:read"] });
  for (const path of ["instances", "workers", "groups", "outbox", "dead-letters", "dead-events", "parked", "backups"]) {
    assert.equal((await call("GET", `${base}/${path}`, undefined, as(other.body.key))).status, 403, path);
    assert.equal((await fetch(`${system.baseUrl}${base}/${path}`)).status, 401, path);
  }
  assert.equal((await get("dead-letters/nobody.x:a:0:0")).status, 404);
});
