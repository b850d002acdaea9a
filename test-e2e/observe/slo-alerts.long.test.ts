import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createReceiver } from "@signalbox/testing";
import { expectStatus, githubHeaders } from "../journey/client.ts";
import { type AlertDrill, lockTables, openAlertDrill } from "./alert-drill.ts";

/** Failures that break a service level, and spare the processes. */
let { system, send, fire, close }: AlertDrill = {} as never;
before(async () => {
  const names = ["EdgeLatency", "EventFreshness", "IngestAvailability", "WebhookArrival"];
  ({ system, send, fire, close } = await openAlertDrill({ names }));
});
after(() => close());

/** Locks the tables of a database for some time, and works meanwhile. */
async function whileLocked(url: string, forMs: number, work: () => Promise<unknown>): Promise<void> {
  const unlock = await lockTables(url);
  const worked = work();
  worked.catch(() => {}); // awaited below
  await sleep(forMs);
  await unlock();
  await worked;
}

const nothing = async () => {};
const renames = () =>
  send("/api/account/", { method: "PATCH", body: { display_name: crypto.randomUUID().slice(0, 8) } });

test("a session that locks the tables of account for a second at a time", async () => {
  const ask = () => Promise.all(Array.from({ length: 4 }, renames));
  await fire(["EdgeLatency"], { act: () => whileLocked(system.databaseUrl("account"), 1_000, ask), mend: nothing });
});

test("a session that somebody left open on the tables of ingest", async () => {
  const source = { name: "Drill", scheme: "github", secret: "a-secret-of-the-drill-01" };
  const { ingest_path: path } = expectStatus(await send("/api/v1/webhooks/sources", { body: source }), 201).json;
  const post = () => send(path, { body: Buffer.from("{}"), headers: githubHeaders(source.secret, "{}") });
  expectStatus(await post(), 202);
  const unlock = await lockTables(system.databaseUrl("webhook-ingest"));
  const posted: Promise<unknown>[] = [];
  const act = async () => {
    posted.push(post());
    await sleep(500);
  };
  const mend = async () => {
    await unlock();
    await Promise.all(posted);
    expectStatus(await post(), 202);
  };
  await fire(["IngestAvailability"], { act, mend });
});

test("a log that takes events six seconds late", async () => {
  await fire(["EventFreshness"], { act: () => whileLocked(system.eventsUrl, 6_000, renames), mend: nothing });
});

test("a receiver that takes its webhooks after more than a minute", async () => {
  const type = "drill.asked";
  expectStatus(await send("/api/v1/webhooks/event-types", { body: { name: type } }), 201);
  const receiver = await createReceiver({ status: 503 });
  const settings = { retry_schedule_seconds: [0, 65] };
  const endpoint = { url: receiver.url, event_types: [type], settings };
  expectStatus(await send("/api/v1/webhooks/endpoints", { body: endpoint }), 201);
  for (let count = 0; count < 20; count++)
    expectStatus(await send("/api/v1/webhooks/events", { body: { type, data: {} } }), 202);
  await receiver.waitFor(({ body }) => body.length > 0);
  receiver.answer({});
  await fire(["WebhookArrival"], { act: () => sleep(500), mend: () => receiver.close() });
});
