import assert from "node:assert/strict";
import { test } from "node:test";
import { draft, eventOf } from "@signalbox/contracts";
import { sql } from "@signalbox/storage";
import { eventually, testPerson } from "@signalbox/testing";
import { endpointsPath } from "./harness.ts";
import { delivery, receiver, shareOneService, who } from "./one-service.ts";

shareOneService();

interface Figures {
  readonly start?: string;
  readonly type: string | null;
  readonly status_class: string | null;
  readonly error: string | null;
  readonly attempts: number;
  readonly delivered: number;
  readonly failed: number;
  readonly exhausted: number;
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
}

const accountPath = "/api/v1/webhooks/statistics";
const of = (id: string) => `${endpointsPath}/${id}/statistics`;
const run = async <Row>(text: string, values: unknown[] = []) =>
  (await delivery.pool.query<Row>(sql("", text), values)).rows;

async function read(
  path: string,
  query = "",
  by = who,
): Promise<{ totals: Figures[]; items: Figures[] } & Record<string, unknown>> {
  const { status, body, text } = await delivery.send(by, "GET", `${path}?${query}`);
  assert.equal(status, 200, text);
  return body;
}

async function publish(count: number, types = ["order.created"]) {
  const body = Array.from({ length: count }, (_, at) => ({ type: types[at % types.length], data: { at } }));
  assert.equal((await delivery.send(who, "POST", "/api/v1/webhooks/events", { body })).status, 202);
}

const newEndpoint = (settings: object = {}, more: object = {}) =>
  delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.*"], settings, ...more });

/** Waits until no delivery of the account waits any more, and returns the attempts of the log. */
async function ended() {
  await eventually(
    async () =>
      (
        await run("select 1 from delivery_queue q join endpoints p on p.id = q.endpoint_id where p.account_id = $1", [
          who.accountId,
        ])
      ).length === 0,
  );
  return run<{ duration_ms: number; status: number | null; error: string | null; decision: string; type: string }>(
    `select a.duration_ms, a.status, a.error, a.decision, d.event_type as type from delivery_attempts a
     join deliveries d on d.id = a.delivery_id where a.account_id = $1 and counted`,
    [who.accountId],
  );
}

const folded = () => eventually(async () => (await run("select 1 from signalbox.fresh_statistics")).length === 0);
const countsOf = ({ attempts, delivered, failed, exhausted }: Figures) => [attempts, delivered, failed, exhausted];

test("the figures are those of the attempts, before and after they are folded, and their times within 2 %", async () => {
  const { id } = await newEndpoint({ retry_schedule_seconds: [0, 0] });
  receiver.answer((_, index) =>
    index % 5 === 0 ? { instead: "reset" } : { status: index % 3 === 0 ? 503 : 200, delayMs: (index % 7) * 20 },
  );
  await publish(100, ["order.created", "order.paid"]);
  const attempts = await ended();
  const groups = Map.groupBy(attempts, ({ type, status, error }) =>
    JSON.stringify([type, status === null ? "none" : `${Math.floor(status / 100)}xx`, error]),
  );
  const expected = new Map(
    [...groups].map(([labels, those]) => {
      const delivered = those.filter(({ decision }) => decision === "succeeded").length;
      const exhausted = those.filter(({ decision }) => decision === "exhausted").length;
      return [labels, [those.length, delivered, those.length - delivered, exhausted]];
    }),
  );
  const check = async () => {
    for (const path of [of(id), accountPath])
      for (const bucket of ["1m", "15m", "1h", "6h", "1d"]) {
        const { totals } = await read(path, `bucket=${bucket}&group_by=type,status_class,error`);
        const found = totals.map(
          (one) => [JSON.stringify([one.type, one.status_class, one.error]), countsOf(one)] as const,
        );
        assert.deepEqual(new Map(found), expected, `${path} by ${bucket}`);
      }
  };
  await check();
  await folded();
  await check();

  const [total] = (await read(of(id))).totals;
  assert.deepEqual(total && countsOf(total)[0], attempts.length);
  const durations = attempts.map(({ duration_ms: ms }) => ms).toSorted((a, b) => a - b);
  for (const [name, share] of [
    ["p50_ms", 0.5],
    ["p99_ms", 0.99],
  ] as const) {
    const exact = durations[Math.ceil(share * durations.length) - 1] ?? 0;
    assert.ok(Math.abs((total?.[name] ?? 0) - exact) <= 0.02 * exact, `${name}: ${total?.[name]}, not ${exact}`);
  }
});

test("buckets start at multiples of their length, and a filter takes a value or a prefix", async () => {
  const { id } = await newEndpoint();
  await publish(4, ["order.created", "order.paid"]);
  await ended();
  const { items, bucket, from, to } = await read(of(id), "bucket=15m&group_by=type");
  assert.equal(bucket, "15m");
  for (const time of [from, to, items[0]?.start]) assert.equal(Date.parse(String(time)) % 900_000, 0);
  assert.deepEqual(items.map(({ type, status_class: status, attempts }) => [type, status, attempts]).toSorted(), [
    ["order.created", null, 2],
    ["order.paid", null, 2],
  ]);
  const countOf = async (query: string) => (await read(of(id), query)).totals[0]?.attempts ?? 0;
  assert.deepEqual(
    await Promise.all(
      ["type=order.paid", "type=order.*", "type=bill.*", "status_class=2xx", "error=deadline"].map(countOf),
    ),
    [2, 4, 0, 4, 0],
  );
});

test("leases of a pull endpoint and of its named consumers count as its attempts", async () => {
  const { id } = await newEndpoint({ retry_schedule_seconds: [0] }, { type: "pull", url: undefined });
  assert.equal((await delivery.send(who, "PUT", `${endpointsPath}/${id}/consumers/billing`, { body: {} })).status, 204);
  await publish(2);
  for (const [consumer, end] of [
    ["", "ack"],
    ["consumer=billing", "nack"],
  ] as const) {
    const { body } = await delivery.send(
      who,
      "GET",
      `${endpointsPath}/${id}/messages?limit=1&wait_seconds=30&${consumer}`,
    );
    const leases = { lease_ids: body.items.map(({ lease_id: lease }: { lease_id: string }) => lease) };
    const path = `${endpointsPath}/${id}/messages/${end}`;
    assert.equal((await delivery.send(who, "POST", path, { body: leases })).status, 200);
  }
  const { totals, oldest_due_at: oldest } = await read(of(id), "group_by=status_class,error");
  assert.deepEqual(totals.map((one) => [one.status_class, one.error, ...countsOf(one)]).toSorted(), [
    ["2xx", null, 1, 1, 0, 0],
    ["none", "nack", 1, 0, 1, 1],
  ]);
  assert.ok(Date.parse(String(oldest)) <= Date.now(), "a message waits");
});

test("a failing endpoint says since when, and its oldest due delivery", async () => {
  const { id } = await newEndpoint({ retry_schedule_seconds: [0, 3_600] });
  const healthy = await read(of(id));
  assert.deepEqual([healthy.oldest_due_at, healthy.failing_since, healthy.totals, healthy.items], [null, null, [], []]);
  receiver.answer({ status: 500 });
  await publish(1);
  const { failing_since: since } = await eventually(async () => {
    const found = await read(of(id));
    return found.failing_since !== null && found;
  });
  assert.equal((await read(accountPath)).failing_since, since);
  await delivery.send(who, "POST", `${endpointsPath}/${id}/pause`);
  await publish(1);
  const due = await eventually(async () => (await read(of(id))).oldest_due_at ?? null);
  assert.equal((await read(accountPath)).oldest_due_at, due);
});

test("a deleted endpoint leaves its part to the account, and a deleted account nothing", async () => {
  const { id } = await newEndpoint();
  await publish(3);
  await ended();
  await folded();
  assert.equal((await delivery.send(who, "DELETE", `${endpointsPath}/${id}`)).status, 204);
  assert.equal((await delivery.send(who, "GET", of(id))).status, 404);
  const rowsOf = async (subject: string) =>
    (await run("select 1 from signalbox.statistics where subject_id = $1", [subject])).length;
  await eventually(async () => (await rowsOf(id)) === 0);
  assert.equal((await read(accountPath)).totals[0]?.attempts, 3);
  const data = { ...eventOf("account.deleted").example, id: who.accountId };
  await delivery.publish(draft("account.deleted", { subject: who.accountId, accountId: who.accountId, data }));
  await eventually(async () => (await rowsOf(who.accountId)) === 0);
});

test("the statistics of another account's endpoint read as missing", async () => {
  const { id } = await newEndpoint();
  const other = testPerson();
  assert.equal((await delivery.send(other, "GET", of(id))).status, 404);
  assert.deepEqual((await read(accountPath, "", other)).totals, []);
});

test("a query that cannot be answered names its parameter", async () => {
  const day = 86_400_000;
  const ago = (days: number) => new Date(Date.now() - days * day).toISOString();
  const cases: [query: string, field: string, code: string, words: RegExp][] = [
    [`from=${ago(1)}&to=${ago(2)}`, "from", "invalid", /Must be before `to`/],
    [`from=${ago(-1)}`, "from", "invalid", /Must be before now/],
    [`from=${ago(31)}&to=${ago(0.5)}`, "from", "too_big", /at most 30 days; this one has 30.5/],
    [`from=${ago(35)}&to=${ago(34)}`, "from", "too_small", /kept for 30 days: must be 20.* or later/],
    ["bucket=5m", "bucket", "invalid_value", /one of 1m, 15m, 1h, 6h, 1d/],
    [`from=${ago(3)}&bucket=1m`, "bucket", "too_many", /has 432\d buckets of 1m, and at most 1500 .*: take 15m/],
    ["group_by=type,colour", "group_by", "invalid_value", /type, status_class, error.*; not colour/],
    ["from=yesterday", "from", "invalid_format", /./],
    ["colour=red", "colour", "unknown_parameter", /./],
  ];
  for (const [query, field, code, words] of cases) {
    const { status, body } = await delivery.send(who, "GET", `${accountPath}?${query}`);
    assert.equal(status, 400, query);
    const [detail] = body.error.details;
    assert.deepEqual([detail.field, detail.code], [field, code], query);
    assert.match(detail.message, words, query);
  }
});

test("the graph has the figures of an endpoint and of the account, and refuses what REST refuses", async () => {
  await newEndpoint();
  await publish(2);
  await ended();
  const figures = "bucket totals { start attempts delivered p50Ms } items { start statusClass attempts } oldestDueAt";
  const query = `query($of: [_Any!]!) { _entities(representations: $of) { ... on Account {
    webhookStatistics(bucket: "1d", groupBy: "status_class") { ${figures} }
    webhookEndpoints { edges { node { statistics(type: "order.*") { ${figures} } } } } } } }`;
  const account = { of: [{ __typename: "Account", id: who.accountId }] };
  const { data, errors } = await delivery.graphql(who, query, account);
  assert.equal(errors, undefined, JSON.stringify(errors));
  const [{ webhookStatistics: all, webhookEndpoints: endpoints }] = data._entities;
  const [{ node }] = endpoints.edges;
  assert.deepEqual(
    [all.bucket, all.totals[0].attempts, all.items[0].statusClass, all.oldestDueAt],
    ["1d", 2, "2xx", null],
  );
  assert.deepEqual([node.statistics.totals[0].delivered, node.statistics.totals[0].start], [2, null]);
  const refusal = async (text: string, by = who) => {
    const wrong = `query($of: [_Any!]!) { _entities(representations: $of) { ... on Account { ${text} { bucket } } } }`;
    const { extensions } = (await delivery.graphql(by, wrong, account)).errors[0];
    return [extensions.code, extensions.details?.[0]?.field];
  };
  assert.deepEqual(await refusal('webhookStatistics(groupBy: "colour")'), ["VALIDATION_FAILED", "groupBy"]);
  assert.deepEqual(
    await refusal('webhookStatistics(from: "2020-01-01T00:00:00.000Z", to: "2020-01-02T00:00:00.000Z")'),
    ["VALIDATION_FAILED", "from"],
  );
  assert.equal((await refusal("webhookStatistics", testPerson()))[0], "FORBIDDEN");
});
