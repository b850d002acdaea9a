import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventData, EventDraft, EventName } from "@signalbox/contracts";
import { createManualClock, hours, minutes, RawJson, systemClock } from "@signalbox/core";
import { openPool, sql } from "@signalbox/storage";
import { eventually, serviceWith, testContext, testPerson } from "@signalbox/testing";
import type { DeliveryService } from "../src/context/delivery-service.ts";
import { PublicationCounts, reportPublications } from "../src/events/publication-counts.ts";
import { joinPublications, publishEvents, publishTogether } from "../src/publishing/publish-events.ts";
import { Lanes } from "../src/sending/lanes.ts";
import { operators } from "../src/sending/signing-endpoint.ts";
import { startDelivery } from "./harness.ts";
import { delivery, receiver, shareOneService, who } from "./one-service.ts";

shareOneService();

const base = "/api/v1/webhooks";
const publish = (count: number, by = who) =>
  delivery.send(by, "POST", `${base}/events`, {
    body: Array.from({ length: count }, (_, number) => ({ type: "order.created", data: { number } })),
  });
const post = async (path: string, body?: object) => (await delivery.send(who, "POST", `${base}${path}`, { body })).body;
async function mutate(call: string): Promise<void> {
  const { data, errors } = await delivery.graphql(who, `mutation { it: ${call} { errors { code } } }`);
  assert.deepEqual([errors, data?.it.errors], [undefined, []], call);
}
/** The entries of the person, once there are `count`: action, subject and credential. */
async function entries(count: number, action: string) {
  const found = await eventually(async () => {
    const all = (await delivery.auditOf(who.accountId, count)) as unknown as { data: Entry }[];
    const such = all.filter(({ data }) => data.action === action);
    return such.length >= count && such;
  });
  return found.map(({ data: { subject, actor } }) => [subject, actor.credential]);
}
interface Entry {
  readonly action: string;
  readonly subject: string | null;
  readonly actor: { readonly credential: string };
}

test("a delivery retried, a replay cancelled and a test sent are in the audit, with their credential, by both edges", async () => {
  const endpoint = await delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.*"] });
  await publish(2);
  const [one] = await eventually(async () => {
    const ended = await delivery.deliveriesOf(who, "&status=succeeded");
    return ended.length === 2 && ended;
  });
  await post(`/deliveries/${one?.id}/retry`);
  await mutate(`retryWebhookDelivery(id: "${one?.id}")`);
  const retried = [one?.id, who.principal.credential.id];
  assert.deepEqual(await entries(2, "webhook_delivery.retry"), [retried, retried]);

  await post(`/endpoints/${endpoint.id}/test`);
  await mutate(`testWebhookEndpoint(id: "${endpoint.id}")`);
  const ofEndpoint = [endpoint.id, who.principal.credential.id];
  assert.deepEqual(await entries(2, "webhook_endpoint.test"), [ofEndpoint, ofEndpoint]);

  await eventually(async () => (await delivery.deliveriesOf(who, "&status=succeeded")).length === 4);
  // One delivery per second keeps the replay of four running.
  const replay = { endpoint_id: endpoint.id, from: "2020-01-01T00:00:00Z", rate: 1 };
  const first = await post("/replays", replay);
  await post(`/replays/${first.id}/cancel`);
  await post(`/replays/${first.id}/cancel`);
  const second = await post("/replays", replay);
  await mutate(`cancelWebhookReplay(id: "${second.id}")`);
  assert.deepEqual(await entries(2, "webhook_endpoint.cancel_replay"), [ofEndpoint, ofEndpoint]);
});

const saved = sql("", "select credential, events from published_hours where account_id = $1");

test("published events are counted by both edges, without repetitions and refused ones", async () => {
  const other = testPerson({ accountId: who.accountId });
  const repeated = { id: "order-1", type: "order.created", data: {} };
  await publish(3);
  await post("/events", repeated);
  await post("/events", repeated);
  await post("/events", { ...repeated, data: { other: true } });
  await mutate('publishWebhookEvents(input: { events: [{ type: "order.paid", data: {} }] })');
  await publish(2, other);
  const byCredential = await eventually(async () => {
    const { rows } = await delivery.pool.query<{ credential: string; events: number }>(saved, [who.accountId]);
    const counts = new Map<string, number>();
    for (const { credential, events } of rows) counts.set(credential, (counts.get(credential) ?? 0) + events);
    return [...counts.values()].reduce((sum, count) => sum + count, 0) === 7 && counts;
  });
  assert.deepEqual(
    [byCredential.get(who.principal.credential.id), byCredential.get(other.principal.credential.id)],
    [5, 2],
  );
});

test("a service that stops saves what it has counted", async () => {
  const leaving = await startDelivery();
  const outside = testContext("webhook-delivery", {});
  const url = leaving.context.configuration.get("database.url");
  const pool = openPool({ ...outside, url, max: 1, applicationName: "after-the-stop" });
  const body = { type: "order.created", data: {} };
  assert.equal((await leaving.send(who, "POST", `${base}/events`, { body })).status, 202);
  await leaving.context.close();
  const { rows } = await pool.query<{ events: number }>(saved, [who.accountId]);
  assert.deepEqual(
    rows.map(({ events }) => events),
    [1],
  );
  await outside.close();
  await leaving.close();
});

test("an hour of publications is one entry per credential, whatever the instances", async () => {
  const clock = createManualClock(new Date("2020-01-01T09:00:00.000Z"));
  const sent: EventDraft<EventName>[] = [];
  const append = async (_tx: unknown, drafts: readonly EventDraft<EventName>[]) => {
    sent.push(...drafts);
    return [];
  };
  const [here, there] = [new PublicationCounts(delivery.pool, clock), new PublicationCounts(delivery.pool, clock)];
  const report = () => reportPublications(delivery.pool, { append }, clock);
  const caller = { ...who.principal, requestId: "r", clientAddress: null };
  const count = (by: PublicationCounts, events: number) => by.count(caller, events);
  const reasons = () => sent.splice(0).map(({ data }) => (data as { reason: string }).reason);

  count(here, 3);
  await here.save();
  count(here, 4);
  count(there, 5);
  clock.advance(hours(1));
  count(here, 7);
  await Promise.all([here.save(), there.save()]);
  await report();
  assert.deepEqual(reasons(), [], "instances may have counts of the hour to save");
  clock.advance(minutes(5));
  await report();
  await report();
  assert.deepEqual(reasons(), ["12 in the hour from 2020-01-01T09:00:00.000Z"]);
  clock.advance(hours(1));
  await report();
  assert.deepEqual(reasons(), ["7 in the hour from 2020-01-01T10:00:00.000Z"]);
});

test("a publication that rolls back counts nothing", async () => {
  const counted: number[] = [];
  const noEndpoints = (accountId: string) => ({ accountId, fingerprint: "0", endpoints: [] });
  const service: DeliveryService = serviceWith<DeliveryService>({
    pool: delivery.pool,
    clock: systemClock,
    tracer: { traceparent: () => undefined },
    enforcedTypes: { find: async () => new Map() },
    schemaThreads: {},
    publishLimiter: {},
    publications: joinPublications(systemClock, (batch) => publishTogether(service, batch)),
    publicationCounts: { count: (_caller: unknown, events: number) => void counted.push(events) },
    endpointCache: {
      ofAccounts: async (accountIds: readonly string[]) => accountIds.map(noEndpoints),
      ofOperators: async () => noEndpoints(operators),
    },
    typeNames: { note: async () => {} },
    announcements: { note: () => {} },
    lanes: new Lanes({ inFlightMax: 1, inFlightMaxPerEndpoint: 1, inFlightMaxPerHost: 1 }),
    leases: { instance: null, leaseMs: 1_000 },
    attempts: {},
    accessStates: {},
    pullWaits: { announce: () => {} },
    wakeUp: {},
  });
  const caller = { ...who.principal, requestId: "r", clientAddress: null };
  const publishOne = (complete: () => Promise<void>) =>
    publishEvents(service, caller, [{ type: "order.created", data: RawJson.of({}) } as never], complete);
  const rollBack = () => Promise.reject(new Error("rolled back"));
  await assert.rejects(publishOne(rollBack), /rolled back/);
  assert.deepEqual(counted, []);
  await publishOne(async () => {});
  assert.deepEqual(counted, [1], "the control: one that commits");
});

test("a read of the management env is in the audit of its reader, with the service, once a minute", async () => {
  for (let count = 0; count < 2; count++) {
    const reader = await delivery.authorizeManagement(who.headers, "203.0.113.9");
    assert.ok(typeof reader === "object");
    reader.recordRead();
  }
  await post("/keys/rotate");
  const [read, next] = (await delivery.auditOf(who.accountId, 2)).map(
    ({ data }) => data as EventData<"audit.recorded">,
  );
  const actor = { kind: "owner", account_id: who.accountId, credential: who.principal.credential.id };
  assert.deepEqual(
    [read?.action, read?.subject, read?.actor],
    ["management.read_env", "webhook-delivery", { ...actor, address: "203.0.113.9" }],
  );
  assert.equal(next?.action, "webhook_signing_key.rotate", "the second read of the minute has no entry");
});
