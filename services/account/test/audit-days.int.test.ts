import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { AuditEntryResource } from "@signalbox/contracts";
import { createManualClock, minutes, uuidv7 } from "@signalbox/core";
import { createTracer } from "@signalbox/runtime";
import { createDayTables, dayMs, type Pool, sql, startOfDay, tableOfDay } from "@signalbox/storage";
import { schemaDifference } from "@signalbox/storage/authoring";
import { eventually } from "@signalbox/testing";
import { auditDays } from "../src/audit/audit-entry.ts";
import { recordRefusal } from "../src/audit/audit-log.ts";
import { type Harness, startAccount } from "./harness.ts";
import { openInside } from "./inside.ts";

let account: Harness;
let pool: Pool;
before(async () => {
  account = await startAccount();
  pool = openInside(account).pool;
});
after(() => account.close());

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));
const by = { kind: "owner", accountId: null, credential: "x", address: null, requestId: null } as const;

/** The maintenance of day tables at a time moved by hand, and a way to write an entry at that time. */
function at(ms: number, retentionDays = 365) {
  const clock = createManualClock(new Date(ms));
  const dayTables = createDayTables({ pool, clock, keepMs: () => retentionDays * dayMs }, [auditDays]);
  const service = { clock, tracer: createTracer("account") };
  const write = (accountId: string) =>
    recordRefusal(service, pool, { accountId, operation: "x", fields: [], reason: "x", by });
  return { clock, dayTables, keep: dayTables.keep, write };
}

async function auditOf(headers: Record<string, string>, query = ""): Promise<AuditEntryResource[]> {
  return (await account.send("GET", `/api/account/audit/${query}`, { headers })).body.items;
}
const idOf = async (headers: Record<string, string>): Promise<string> =>
  (await account.send("GET", "/api/account/", { headers })).body.id;

/** The tables of an account's entries, by their ids. */
async function tablesOf(accountId: string): Promise<string[]> {
  const text = "select tableoid::regclass::text as name from audit_entries where account_id = $1 order by id";
  const { rows } = await pool.query<{ name: string }>(sql("", text), [accountId]);
  return rows.map(({ name }) => name);
}
const tableOfEntry = (entry: AuditEntryResource | undefined): string =>
  tableOfDay(auditDays, startOfDay(Date.parse(entry?.created_at ?? "")));

test("an entry is in the table of its day", async () => {
  const weekAhead = async () => {
    const today = startOfDay(account.context.clock.nowMs());
    const days = await at(today).dayTables.days(auditDays);
    for (let ahead = 0; ahead <= 7; ahead++) assert.ok(days.includes(today + ahead * dayMs), `${ahead} ahead`);
  };
  // The service creates the next day's table at midnight, with its next check.
  await eventually(weekAhead, { timeoutMs: 2 * minutes(1) });
  const headers = account.person();
  const id = await idOf(headers);
  assert.deepEqual(await tablesOf(id), [tableOfEntry((await auditOf(headers))[0])]);
});

test("a day goes with its whole table once its last entry is past the retention", async () => {
  const longAgo = startOfDay(account.context.clock.nowMs()) - 40 * dayMs;
  const { clock, dayTables, keep, write } = at(longAgo, 2);
  const id = `acc_${crypto.randomUUID()}`;
  await keep();
  await write(id);
  clock.advance(3 * dayMs - 1);
  await keep();
  assert.deepEqual(await tablesOf(id), [tableOfDay(auditDays, longAgo)]);
  clock.advance(1);
  await keep();
  assert.deepEqual(await tablesOf(id), []);
  assert.ok(!(await dayTables.days(auditDays)).includes(longAgo));
});

test("an entry that comes before the table of its day is written, listed, and moved to its table later", async () => {
  const headers = account.person();
  const id = await idOf(headers);
  const { keep, write, clock } = at(account.context.clock.nowMs() - 20 * dayMs);
  await write(id);
  const entries = await auditOf(headers);
  assert.deepEqual(
    entries.map(({ action }) => action),
    ["account.create", "x"],
  );
  assert.deepEqual(await tablesOf(id), ["signalbox.audit_entries_default", tableOfEntry(entries[0])]);
  await keep();
  assert.equal((await tablesOf(id))[0], tableOfDay(auditDays, startOfDay(clock.nowMs())));
  assert.equal((await auditOf(headers)).length, 2);
});

test("a list runs through all the days without gaps", async () => {
  const headers = account.person();
  const id = await idOf(headers);
  const nowMs = account.context.clock.nowMs();
  for (const days of [1, 6, 7, 8, 35, 36, 147, 148, 364, 400]) await at(nowMs - days * dayMs).write(id);
  const walked: AuditEntryResource[] = [];
  for (let query = "?limit=3"; ; ) {
    const { body } = await account.send("GET", `/api/account/audit/${query}`, { headers });
    walked.push(...body.items);
    if (!body.has_more) break;
    query = `?limit=3&cursor=${body.next_cursor}`;
  }
  const ages = walked.map(({ created_at }) => Math.round((nowMs - Date.parse(created_at)) / dayMs));
  assert.deepEqual(ages, [0, 1, 6, 7, 8, 35, 36, 147, 148, 364], "what is past the retention is not shown");
});

test("tables are made beside transactions that write; a drop gives way to them and comes again", async () => {
  const longAgo = startOfDay(account.context.clock.nowMs()) - 80 * dayMs;
  const instances = [at(longAgo), at(longAgo), at(longAgo)];
  const client = await pool.driver.connect();
  try {
    await client.query("begin");
    const insert = `insert into audit_entries (id, account_id, action, fields, actor_credential, created_at)
      values ($1, 'acc_1', 'x', '{}', 'x', now())`;
    await client.query(insert, [uuidv7(account.context.clock.nowMs())]);
    await Promise.all(instances.map(({ keep }) => keep()));
    for (const { keep } of instances) await keep();
    const days = await at(longAgo).dayTables.days(auditDays);
    assert.equal(days.filter((day) => day === longAgo).length, 1);
    await assert.rejects(at(longAgo).dayTables.drop(auditDays, longAgo), { code: "unavailable" });
  } finally {
    await client.query("rollback");
    client.release();
  }
  assert.equal(await at(longAgo).dayTables.drop(auditDays, longAgo), true);
});

test("the migrations lead to the Prisma schema", async () => {
  assert.equal(await schemaDifference(prismaDirectory, account.context.configuration.get("database.url")), "");
});
