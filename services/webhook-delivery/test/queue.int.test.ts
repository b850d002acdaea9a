import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { type Clock, systemClock } from "@signalbox/core";
import { type Pool, sql } from "@signalbox/storage";
import { createReceiver, eventually, testPerson } from "@signalbox/testing";
import type { LeasedDelivery } from "../src/deliveries/delivery.ts";
import { Leases } from "../src/sending/leases.ts";
import { recordResults } from "../src/sending/record-results.ts";
import { endpointsPath, startDelivery } from "./harness.ts";
import { delivery, receiver, shareOneService, who } from "./one-service.ts";

shareOneService();

const settings = { retry_schedule_seconds: [0, 3_600] };
const newEndpoint = (more: object = {}) => delivery.newEndpoint(who, { url: receiver.url, settings, ...more });
const act = ({ id }: { id: string }, action: string) => delivery.send(who, "POST", `${endpointsPath}/${id}/${action}`);
const run = async <Row>(text: string, values: unknown[] = []) =>
  (await delivery.pool.query<Row>(sql("", text), values)).rows;

/** Creates images one after the other, so that their order is known. */
async function createImages(count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) ids.push(await delivery.createImage(who.accountId));
  return ids;
}

const inQueue = async (endpoint: { id: string }) =>
  (
    await run<{ count: number }>("select count(*)::int as count from delivery_queue where endpoint_id = $1", [
      endpoint.id,
    ])
  )[0]?.count ?? 0;

test("eight hanging endpoints delay no other endpoint, of their own account or another", async () => {
  const hanging = await createReceiver({ instead: "hang" });
  for (let count = 0; count < 8; count++) {
    await newEndpoint({ url: `${hanging.url}/${count}`, settings: { ...settings, timeout_seconds: 30 } });
  }
  await newEndpoint();
  await createImages(20);
  await eventually(() => receiver.requests.length === 20);
  const other = testPerson();
  const observer = await createReceiver();
  await delivery.newEndpoint(other, { url: observer.url });
  await delivery.createImage(other.accountId);
  await observer.waitFor(() => true);
  assert.equal((await delivery.deliveriesOf(who, "&status=succeeded")).length, 20);
  // No attempt at the hanging ones has ended by now: they hold their places all the time.
  assert.deepEqual(
    await run("select 1 from delivery_attempts where account_id = $1 and error is not null", [who.accountId]),
    [],
  );
  await Promise.all([hanging.close(), observer.close()]);
});

test("pausing and resuming an endpoint does not write its deliveries", async () => {
  const endpoint = await newEndpoint();
  await act(endpoint, "pause");
  const ids = await createImages(30);
  await eventually(async () => (await inQueue(endpoint)) === ids.length);
  const versions = () =>
    run("select delivery_id, xmin::text from delivery_queue where endpoint_id = $1 order by 1", [endpoint.id]);
  const before = await versions();
  await act(endpoint, "pause");
  const paused = await delivery.send(who, "PATCH", `${endpointsPath}/${endpoint.id}`, {
    body: { url: "https://one.example/" },
  });
  assert.equal(paused.body.status, "paused");
  assert.equal((await delivery.deliveriesOf(who, "&status=held")).length, ids.length);
  assert.deepEqual(await delivery.deliveriesOf(who, "&status=pending"), []);
  assert.deepEqual(await versions(), before);
});

const viewOf = async ({ id }: { readonly id: string }) =>
  (await delivery.send(who, "GET", `${endpointsPath}/${id}`)).body;

test("a new delivery passes those that were held", async () => {
  const endpoint = await newEndpoint();
  await act(endpoint, "pause");
  const ids = await createImages(60);
  await eventually(async () => (await inQueue(endpoint)) === ids.length);
  await act(endpoint, "resume");
  const [fresh = ""] = await createImages(1);
  await eventually(() => receiver.requests.length === 61);
  const order = receiver.requests.map(({ body }) => JSON.parse(body.toString()).data.id);
  assert.ok(order.indexOf(fresh) < 50, `${order.indexOf(fresh)} went before it`);
});

test("the view shows what waits and what is held, and when it will have drained", async () => {
  const endpoint = await newEndpoint({ settings: { ...settings, rate: { limit: 1, per_seconds: 2 } } });
  await act(endpoint, "pause");
  const ids = await createImages(20);
  await eventually(async () => (await inQueue(endpoint)) === ids.length);
  const paused = await viewOf(endpoint);
  assert.deepEqual([paused.waiting, paused.held, paused.drains_at_per_second, paused.drained_at], [0, 20, null, null]);
  await act(endpoint, "resume");
  const draining = await viewOf(endpoint);
  assert.equal(draining.drains_at_per_second, 0.5);
  assert.ok(draining.held > 15 && draining.held <= 20);
  const inMs = Date.parse(draining.drained_at) - Date.now();
  assert.ok(Math.abs(inMs - draining.held * 2_000) < 5_000, String(inMs));
});

test("held deliveries drain faster while the endpoint answers well", async () => {
  const endpoint = await newEndpoint();
  await act(endpoint, "pause");
  const ids = await createImages(300);
  await eventually(async () => (await inQueue(endpoint)) === ids.length);
  await act(endpoint, "resume");
  assert.equal((await viewOf(endpoint)).drains_at_per_second, 20);
  await eventually(async () => (await viewOf(endpoint)).drains_at_per_second > 30);
  await eventually(() => receiver.requests.length === ids.length);
});

test("held deliveries drain slower while the endpoint fails", async () => {
  const endpoint = await newEndpoint({ settings: { retry_schedule_seconds: [0, 3_600] } });
  await act(endpoint, "pause");
  const ids = await createImages(100);
  await eventually(async () => (await inQueue(endpoint)) === ids.length);
  receiver.answer({ status: 503 });
  await act(endpoint, "resume");
  await eventually(async () => (await viewOf(endpoint)).drains_at_per_second < 10);
});

test("held deliveries of an ordered endpoint go out before later ones, in the order of their events", async () => {
  const endpoint = await newEndpoint({ settings: { ...settings, max_in_flight: 1, ordered: true } });
  await act(endpoint, "pause");
  const ids = await createImages(40);
  await eventually(async () => (await inQueue(endpoint)) === ids.length);
  const resumedMs = performance.now();
  await act(endpoint, "resume");
  const [last = ""] = await createImages(1);
  await eventually(() => receiver.requests.length === 41);
  // Twenty in the first second; then the rate may grow.
  assert.ok(performance.now() - resumedMs >= 1_000);
  const bodies = receiver.requests.map(({ body }) => JSON.parse(body.toString()));
  assert.deepEqual(new Set(bodies.map(({ data }) => data.id)), new Set([...ids, last]));
  const times = bodies.map((body) => String(body.created_at));
  assert.deepEqual(times, times.toSorted());
  await eventually(async () => (await inQueue(endpoint)) === 0);
});

test("held deliveries go out at the endpoint's own rate if it has one", async () => {
  const rate = { limit: 10, per_seconds: 1 };
  const endpoint = await newEndpoint({ settings: { ...settings, rate } });
  await act(endpoint, "pause");
  const ids = await createImages(12);
  await eventually(async () => (await inQueue(endpoint)) === ids.length);
  const resumedMs = performance.now();
  await act(endpoint, "resume");
  await eventually(() => receiver.requests.length === ids.length);
  // One goes at once, and a late caller may catch up by 5 %.
  assert.ok(performance.now() - resumedMs >= (ids.length - 2) * 95);
});

test("with one attempt at a time a delivery costs one lease and one removal", async () => {
  const endpoint = await newEndpoint({ settings: { ...settings, max_in_flight: 1 } });
  await act(endpoint, "pause");
  const ids = await createImages(16);
  await eventually(async () => (await inQueue(endpoint)) === ids.length);
  // The statistics of PostgreSQL come late: a sequence counts at once.
  await run(
    `create sequence queue_updates;
     create function count_queue_update() returns trigger language plpgsql as
       'begin perform nextval(''queue_updates''); return null; end';
     create trigger count_queue_update after update on delivery_queue
       for each row execute function count_queue_update();`,
  );
  await act(endpoint, "resume");
  await eventually(() => receiver.requests.length === ids.length);
  await eventually(async () => (await inQueue(endpoint)) === 0);
  const [counted] = await run<{ updates: number }>("select last_value::int as updates from queue_updates");
  const updates = counted?.updates ?? 0;
  assert.ok(updates >= ids.length && updates <= 2 * ids.length, `${updates} updates for ${ids.length} deliveries`);
});

/** A receiver that counts its connections. */
async function countingReceiver(bodyBytes: number) {
  let [connections, requests] = [0, 0];
  const server: Server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    request.resume().on("end", () => {
      requests++;
      response.end("x".repeat(bodyBytes));
    });
  });
  server.on("connection", () => connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts: () => ({ connections, requests }),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

for (const { bytes, expected } of [
  { bytes: 60_000, expected: "one connection" },
  { bytes: 500_000, expected: "a connection each" },
]) {
  test(`twelve answers of ${bytes} bytes take ${expected}`, async () => {
    const counting = await countingReceiver(bytes);
    await newEndpoint({ url: counting.url, settings: { ...settings, max_in_flight: 1 } });
    for (let count = 1; count <= 12; count++) {
      await delivery.createImage(who.accountId);
      await eventually(async () => (await delivery.deliveriesOf(who, "&status=succeeded")).length === count);
    }
    assert.deepEqual(counting.counts(), { connections: expected === "one connection" ? 1 : 12, requests: 12 });
    counting.close();
  });
}

test("an idle connection is kept for a minute where the receiver keeps it longer", async (t) => {
  const counting = await countingReceiver(1);
  t.after(counting.close);
  await newEndpoint({ url: counting.url });
  const armed = t.mock.method(globalThis, "setTimeout");
  for (let count = 1; count <= 2; count++) {
    await delivery.createImage(who.accountId);
    await eventually(async () => (await delivery.deliveriesOf(who, "&status=succeeded")).length === count);
  }
  // Timers of the connections; the outbound client's tests prove that connections are kept until then.
  const callerOf = ({ stack }: { stack: Error }) =>
    stack.stack?.split("\n").find((line) => /file:|node_modules/.test(line));
  const ofConnections = armed.mock.calls.filter((call) => callerOf(call)?.includes("/undici/"));
  // Clients of other services, such as that of access states, keep theirs for less.
  const delaysMs = ofConnections.map((call) => call.arguments[1]);
  assert.ok(delaysMs.includes(60_000), `${delaysMs}`);
  assert.deepEqual(counting.counts(), { connections: 1, requests: 2 });
});

test("an attempt whose lease was lost to another instance is shown, and does not count", async () => {
  const gate = Promise.withResolvers<void>();
  receiver.answer(async (_, index) => {
    if (index === 0) await gate.promise;
    return { status: index === 0 ? 500 : 200 };
  });
  const endpoint = await newEndpoint();
  await delivery.createImage(who.accountId);
  await receiver.waitFor(() => true);
  // The write of another instance that takes this one for dead.
  await run("update delivery_queue set due_at = now(), leased_by = null where endpoint_id = $1", [endpoint.id]);
  await eventually(async () => (await delivery.deliveriesOf(who, "&status=succeeded")).length === 1);
  gate.resolve();
  const [made] = await delivery.deliveriesOf(who);
  const attempts = await eventually(async () => {
    const found = await delivery.attemptsOf(who, made?.id ?? "");
    return found.length === 2 && found;
  });
  assert.deepEqual(attempts.map(({ number, status, counted }) => [number, status, counted]).sort(), [
    [1, 200, true],
    [1, 500, false],
  ]);
  assert.deepEqual([made?.status, made?.attempts, made?.last_status], ["succeeded", 1, 200]);
});

/** The leases of an instance that others do not see, and that sees no others. */
async function leasesOf(
  instance: number,
  clock: Pick<Clock, "steadyMs">,
  query = delivery.pool.query,
): Promise<Leases> {
  const unseen = ["queue.register", "queue.find-dead"];
  const pool: Pool = {
    ...delivery.pool,
    query: async (statement, values) =>
      unseen.includes(statement.name) ? { rows: [], rowCount: 0 } : query(statement, values),
  };
  const { log } = delivery.context;
  const leases = new Leases({ pool, presence: { id: () => instance }, clock, log, leaseMs: 60_000 });
  await leases.register();
  return leases;
}

test("a lease whose answer was lost is released once it can no longer be on its way", async () => {
  const endpoint = await newEndpoint();
  await act(endpoint, "pause");
  await createImages(2);
  await eventually(async () => (await inQueue(endpoint)) === 2);
  const lossy: Pool["query"] = async (statement, values) => {
    const result = await delivery.pool.query(statement, values);
    if (statement.name === "queue.claim") throw new Error("Connection terminated unexpectedly");
    return result as never;
  };
  const leases = await leasesOf(7, systemClock, lossy);
  const leased = async () =>
    (await run<{ id: string }>("select delivery_id as id from delivery_queue where leased_by = 7")).map(({ id }) => id);
  await assert.rejects(leases.claim(new Map([[endpoint.id, 2]]), 7));
  const [first = "", second] = await leased();
  assert.equal(await leases.takeOver(() => []), false, "it may be on its way into memory");
  await run("update delivery_queue set due_at = due_at - interval '5 s' where leased_by = 7");
  assert.equal(await leases.takeOver(() => [first]), true);
  assert.deepEqual([await leased(), second !== undefined], [[first], true]);
});

test("leases of a batch are searched for when the outcome of its commit is unknown", async () => {
  const endpoint = await newEndpoint();
  await act(endpoint, "pause");
  await createImages(1);
  await eventually(async () => (await inQueue(endpoint)) === 1);
  await run("update delivery_queue set leased_by = 8, due_at = now() + interval '50 s' where endpoint_id = $1", [
    endpoint.id,
  ]);
  let nowMs = 0;
  const leases = await leasesOf(8, { steadyMs: () => nowMs });
  const release = () => leases.takeOver(() => []);
  leases.expect()();
  nowMs += 60_000;
  assert.equal(await release(), false, "they came into memory");
  leases.expect();
  assert.equal(await release(), false, "they may be on their way");
  nowMs += 10_000;
  assert.equal(await release(), true);
});

test("a deleted endpoint leaves nothing behind, and a body stays as long as another endpoint has it", async () => {
  const [endpoint, other] = [await newEndpoint(), await newEndpoint()];
  await delivery.createImage(who.accountId);
  await eventually(async () => (await delivery.deliveriesOf(who, "&status=succeeded")).length === 2);
  const remove = ({ id }: { id: string }) => delivery.send(who, "DELETE", `${endpointsPath}/${id}`);
  const left = async () => {
    const [counts] = await run<{ events: number; deliveries: number; attempts: number; secrets: number }>(
      `select (select count(*)::int from webhook_events where account_id = $1) as events,
         (select count(*)::int from deliveries where account_id = $1) as deliveries,
         (select count(*)::int from delivery_attempts where account_id = $1) as attempts,
         (select count(*)::int from endpoint_secrets where endpoint_id = any($2)) as secrets`,
      [who.accountId, [endpoint.id, other.id]],
    );
    return counts;
  };
  await remove(endpoint);
  assert.equal((await delivery.deliveriesOf(who)).length, 1, "they are hidden at once");
  await eventually(async () => assert.deepEqual(await left(), { events: 1, deliveries: 1, attempts: 1, secrets: 1 }));
  await remove(other);
  await eventually(async () => assert.deepEqual(await left(), { events: 0, deliveries: 0, attempts: 0, secrets: 0 }));
});

test("up to five secrets of overlapping rotations sign, a sixth is 409, and the overlap can be ended", async () => {
  const endpoint = await newEndpoint();
  const rotate = (body: object = {}) =>
    delivery.send(who, "POST", `${endpointsPath}/${endpoint.id}/secret/rotate`, { body });
  const secrets = [endpoint.secret];
  for (let count = 0; count < 4; count++) secrets.unshift((await rotate({ overlap_seconds: 600 })).body.secret);
  assert.equal((await rotate()).status, 409);
  await delivery.createImage(who.accountId);
  const { headers } = await receiver.waitFor(() => true);
  assert.equal(String(headers["webhook-signature"]).split(" ").length, 5);
  const liveSecrets = async () => {
    const { body } = await delivery.send(who, "GET", `${endpointsPath}/${endpoint.id}`);
    return body.secrets.map(({ ends_at }: { ends_at: string | null }) => ends_at !== null);
  };
  assert.deepEqual(await liveSecrets(), [false, true, true, true, true]);
  const ended = await delivery.send(who, "DELETE", `${endpointsPath}/${endpoint.id}/secret/previous`);
  assert.equal(ended.status, 204);
  receiver.clear();
  await delivery.createImage(who.accountId);
  const after = await receiver.waitFor(() => true);
  assert.equal(String(after.headers["webhook-signature"]).split(" ").length, 1);
  assert.deepEqual(await liveSecrets(), [false]);
  assert.deepEqual((await rotate({ overlap_seconds: 0 })).body.secrets.length, 1);
});

test("a rotation without overlap ends every older secret, and is never one too many", async () => {
  const endpoint = await newEndpoint();
  const rotate = (overlap_seconds: number) =>
    delivery.send(who, "POST", `${endpointsPath}/${endpoint.id}/secret/rotate`, { body: { overlap_seconds } });
  for (let count = 0; count < 3; count++) assert.equal((await rotate(600)).status, 200);
  const atOnce = await Promise.all([rotate(600), rotate(600), rotate(600)]);
  assert.deepEqual(atOnce.map(({ status }) => status).sort(), [200, 409, 409]);
  assert.equal((await rotate(0)).status, 200);
  await delivery.createImage(who.accountId);
  const { headers } = await receiver.waitFor(() => true);
  assert.equal(String(headers["webhook-signature"]).split(" ").length, 1);
});

test("an endpoint that another instance changed is looked up again", async () => {
  const endpoint = await newEndpoint();
  await delivery.createImage(who.accountId);
  await eventually(() => receiver.requests.length === 1);
  const elsewhere = await createReceiver();
  // The write of another instance, without a message to this one.
  await run("update endpoints set url = $2, revision = revision + 1 where id = $1", [endpoint.id, elsewhere.url]);
  await delivery.createImage(who.accountId);
  await elsewhere.waitFor(() => true);
  assert.equal(receiver.requests.length, 1);
  await elsewhere.close();
});

test("an exhausted delivery gets one more attempt on demand, and its recovery is an event", async () => {
  receiver.answer({ status: 503 });
  const endpoint = await newEndpoint({ settings: { retry_schedule_seconds: [0] } });
  await delivery.createImage(who.accountId);
  const inStatus = (status: string) =>
    eventually(async () => (await delivery.deliveriesOf(who, `&status=${status}`))[0] ?? null);
  const given = await inStatus("exhausted");
  const retry = () => delivery.send(who, "POST", `/api/v1/webhooks/deliveries/${given.id}/retry`);
  const retried = await retry();
  assert.deepEqual([retried.status, retried.body.status], [202, "pending"]);
  await eventually(() => receiver.requests.length === 2);
  await inStatus("exhausted");
  await act(endpoint, "pause");
  await retry();
  assert.equal((await inStatus("held")).id, given.id);
  receiver.answer({ status: 200 });
  await act(endpoint, "resume");
  const made = await inStatus("succeeded");
  assert.deepEqual([made.id, made.attempts], [given.id, 3]);
  const ids = receiver.requests.map(({ headers }) => headers["x-delivery-id"]);
  assert.deepEqual(ids, [given.id, given.id, given.id]);
  const [event] = await delivery.eventsOf(who.accountId, 1, "webhook_delivery.recovered");
  assert.equal((event?.data as { id?: string } | undefined)?.id, given.id);
  const other = await delivery.send(testPerson(), "POST", `/api/v1/webhooks/deliveries/${given.id}/retry`);
  assert.equal(other.status, 404);
});

test("a waiting delivery is attempted now on demand", async () => {
  receiver.answerNext({ status: 500 });
  await newEndpoint();
  await delivery.createImage(who.accountId);
  const waiting = await eventually(async () => {
    const [only] = await delivery.deliveriesOf(who, "&status=pending");
    return only?.attempts === 1 && only;
  });
  await delivery.send(who, "POST", `/api/v1/webhooks/deliveries/${waiting.id}/retry`);
  await eventually(async () => (await delivery.deliveriesOf(who, "&status=succeeded")).length === 1);
  assert.equal(receiver.requests.length, 2);
  assert.equal((await run("select 1 from delivery_queue where delivery_id = $1", [waiting.id])).length, 0);
});

test("a start with a lease that an attempt could outlive is refused", async () => {
  await assert.rejects(startDelivery({ "webhook-delivery.attempts.lease": "40000" }), /must be more than 40000 ms/);
});

test("results that are sent again because their answer was lost are recorded once", async () => {
  const endpoint = await newEndpoint();
  await delivery.createImage(who.accountId);
  const read = () =>
    run<{ id: string; deliveryId: string; startedAt: Date; createdAt: Date }>(
      `select a.id, d.id as "deliveryId", a.started_at as "startedAt", d.created_at as "createdAt"
       from delivery_attempts a join deliveries d on d.id = a.delivery_id where d.endpoint_id = $1`,
      [endpoint.id],
    );
  const made = await eventually(async () => (await read())[0] ?? null);
  const ids = { endpointId: endpoint.id, accountId: who.accountId };
  const leased = { ...ids, id: made.deliveryId, createdAt: made.createdAt, leasedUntil: new Date() } as LeasedDelivery;
  const attempt = {
    ...ids,
    id: made.id,
    deliveryId: made.deliveryId,
    eventType: "image.created",
    number: 1,
    counted: true,
    startedAt: made.startedAt,
    durationMs: 1,
    status: 200,
    error: null,
    response: null,
    phase: null,
    decision: null,
    nextAttemptAt: null,
    exchange: null,
  };
  const result = { delivery: leased, attempt, status: "succeeded", used: 1, delayMs: null, failed: false } as const;
  const limits = { failedShare: 0.95, failingAfterMs: 1, disableAfterMs: 1 };
  assert.deepEqual(await recordResults(delivery.pool, [result], limits), { won: new Set(), failing: [] });
  assert.equal((await read()).length, 1);
  const { body } = await delivery.send(who, "GET", `${endpointsPath}/${endpoint.id}/statistics`);
  assert.equal(body.totals[0].attempts, 1);
});

test("a result that cannot be written parks its delivery, and those of its batch are recorded", async () => {
  const spoiled = await newEndpoint();
  await newEndpoint();
  await run(`create function refuse_result() returns trigger language plpgsql as $$ begin
    if new.endpoint_id = '${spoiled.id}' then raise exception 'no such result' using errcode = '22000'; end if;
    return new; end $$`);
  await run(
    `create trigger refuse_result before insert on delivery_attempts for each row execute function refuse_result()`,
  );
  await createImages(10);
  const statuses = async ({ id }: { id: string }) =>
    (await delivery.deliveriesOf(who, `&endpoint_id=${id}`)).map(({ status, last_error: error }) => [status, error]);
  const all = await eventually(async () => {
    const found = await delivery.deliveriesOf(who);
    return found.length === 20 && found.every(({ status }) => status !== "pending") && found;
  });
  assert.equal(all.filter(({ status }) => status === "succeeded").length, 10);
  assert.deepEqual(await statuses(spoiled), Array(10).fill(["parked", "not-recorded"]));
  assert.equal(await inQueue(spoiled), 0);
  assert.equal(receiver.requests.length, 20, "nothing is posted again");
  await run("drop trigger refuse_result on delivery_attempts");
  const [parked] = await delivery.deliveriesOf(who, "&status=parked");
  await delivery.send(who, "POST", `/api/v1/webhooks/deliveries/${parked?.id}/retry`);
  await eventually(async () => (await delivery.deliveriesOf(who, "&status=succeeded")).length === 11);
});
