import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { hours, newId } from "@signalbox/core";
import { tableOfDay } from "@signalbox/storage";
import { testPerson } from "@signalbox/testing";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import { secrets, sign } from "./signing.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest();
});
after(() => ingest.close());

const dayMs = hours(24);
const hmac = { scheme: "hmac", secret: secrets.hmac };
const run = (text: string, values: unknown[] = []) =>
  ingest.pool.query<Record<string, string>>({ name: "", text }, values);

/** Reads the list of a source, page by page. */
async function walk(who: ReturnType<typeof testPerson>, { id }: { id: string }, query = "limit=2") {
  const items: { id: string; delivery_id: string; received_at: string }[] = [];
  for (let cursor = ""; ; ) {
    const { body, text } = await ingest.send(who, "GET", `${sourcesPath}/${id}/received?${query}${cursor}`);
    assert.ok(Array.isArray(body.items), text);
    items.push(...body.items);
    if (!body.has_more) return items;
    cursor = `&cursor=${body.next_cursor}`;
  }
}

/** Stores a webhook as if it had arrived this many days ago. */
async function receivedDaysAgo(
  source: { id: string },
  days: number,
  more: { type?: string; forwarded?: boolean } = {},
) {
  const at = Date.now() - days * dayMs;
  const id = newId("rcv", at);
  const name = randomUUID();
  const text = `insert into received_deliveries (id, source_id, delivery_id, is_id_signed, event_type, is_type_signed,
    content_type, forwarded, headers, body, received_at) values ($1, $2, $3, false, $4, false, null, $5, '{}', 'x', $6)`;
  await run(text, [id, source.id, name, more.type ?? null, more.forwarded ?? true, new Date(at)]);
  const digest = createHash("sha256").update(`id\0${name}\0`).digest().subarray(0, 16);
  await run("insert into received_keys values ($1, $2, 'x', $3, $4)", [source.id, digest, id, new Date(at)]);
  return { id, name };
}

test("a webhook is stored in the table of its day", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  assert.equal((await ingest.post(source, sign("hmac"))).status, 202);
  const text =
    "select tableoid::regclass::text as place, received_at::text from received_deliveries where source_id = $1";
  const [row] = (await run(text, [source.id])).rows;
  const day = Math.floor(Date.parse(row?.received_at ?? "") / dayMs) * dayMs;
  assert.equal(row?.place, tableOfDay({ name: "received_deliveries" }, day));
});

test("a list runs through the days of the retention, newest first and without gaps, and each item can be read", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  const ages = [0.5, 1, 6.9, 7, 7.1, 8, 20, 29];
  const made = [];
  for (const days of [...ages, 33]) made.push(await receivedDaysAgo(source, days));
  const items = await walk(who, source);
  assert.deepEqual(
    items.map(({ id }) => id),
    made.slice(0, ages.length).map(({ id }) => id),
    "what is past the retention is not shown",
  );
  for (const { id } of items) {
    assert.equal((await ingest.send(who, "GET", `${sourcesPath}/${source.id}/received/${id}`)).body.id, id);
  }
});

test("a list can be filtered by type, prefix, delivery id, forwarding and time", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  const [paid, made, other] = [
    await receivedDaysAgo(source, 1, { type: "order.paid" }),
    await receivedDaysAgo(source, 9, { type: "order.made", forwarded: false }),
    await receivedDaysAgo(source, 20),
  ];
  const at = (days: number) => new Date(Date.now() - days * dayMs).toISOString();
  const cases: [string, { id: string }[]][] = [
    ["event_type=order.paid", [paid]],
    ["event_type=order.*", [paid, made]],
    ["event_type=*", [paid, made]],
    ["event_type=order", []],
    [`delivery_id=${made.name}`, [made]],
    [`delivery_id=${made.name}&event_type=order.paid`, []],
    [`delivery_id=${randomUUID()}`, []],
    ["forwarded=false", [made]],
    [`from=${at(10)}`, [paid, made]],
    [`to=${at(8)}`, [made, other]],
    [`from=${at(10)}&to=${at(8)}&forwarded=false`, [made]],
    [`from=${at(5)}&delivery_id=${made.name}`, []],
    [`to=${at(15)}&delivery_id=${made.name}`, []],
  ];
  for (const [query, expected] of cases) {
    const found = (await walk(who, source, `limit=1&${query}`)).map(({ id }) => id);
    assert.deepEqual(
      found,
      expected.map(({ id }) => id),
      query,
    );
  }
  for (const query of ["forwarded=yes", "from=yesterday", "colour=red"]) {
    const path = `${sourcesPath}/${source.id}/received?${query}`;
    assert.equal((await ingest.send(who, "GET", path)).status, 400, query);
  }
});

test("a repetition is known for the whole retention, on any day", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, hmac);
  const webhook = sign("hmac");
  assert.equal((await ingest.post(source, webhook)).status, 202);
  for (const table of ["received_deliveries", "received_keys"]) {
    await run(`update ${table} set received_at = received_at - interval '20 days' where source_id = $1`, [source.id]);
  }
  assert.equal((await ingest.post(source, webhook)).status, 202);
  assert.equal((await walk(who, source)).length, 1);
});
