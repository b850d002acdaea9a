import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AuditEntryResource, draft, type EventData } from "@signalbox/contracts";
import { createManualClock, hours, uuidv7 } from "@signalbox/core";
import { type EventLog, openEventLog, publishEvents } from "@signalbox/events";
import { createTracer } from "@signalbox/runtime";
import { inTransaction } from "@signalbox/storage";
import { eventually } from "@signalbox/testing";
import { takeAuditEntry } from "../src/audit/audit-log.ts";
import { purgeDueAccounts } from "../src/deletion/account-purge.ts";
import { type Harness, startAccount } from "./harness.ts";
import { openInside } from "./inside.ts";
import { rowsWith } from "./rows-with.ts";

type Entry = EventData<"audit.recorded">;

let account: Harness;
let administrator: Record<string, string>;
let inside: ReturnType<typeof openInside>;
let log: EventLog;
before(async () => {
  account = await startAccount();
  administrator = { "x-api-key": await account.firstKey() };
  inside = openInside(account);
  log = await openEventLog(account.context.configuration.get("events.url"), {
    ...account.context,
    clientId: "audit-tests",
  });
});
after(async () => {
  await log.close();
  await account.close();
});

/** An entry of another service about an endpoint of the account. */
function entryOf(accountId: string, changes: Partial<Entry> = {}): Entry {
  const actor = { kind: "owner" as const, account_id: accountId, credential: "key_theirs", address: "203.0.113.7" };
  return {
    account_id: accountId,
    action: "webhook_endpoint.update",
    outcome: "done",
    fields: ["url"],
    reason: null,
    subject: `whe_${crypto.randomUUID()}`,
    actor,
    request_id: crypto.randomUUID(),
    ...changes,
  } as Entry;
}

/** Publishes an entry as another service would, at this time. */
async function publish(entry: Entry, at = account.context.clock.now()): Promise<void> {
  const clock = createManualClock(at);
  const event = draft("audit.recorded", { subject: entry.account_id, accountId: entry.account_id, data: entry });
  const publisher = { eventLog: log, service: "webhook-delivery", clock, tracer: createTracer("webhook-delivery") };
  await publishEvents(publisher, [event]);
}

async function auditOf(headers: Record<string, string>, query = ""): Promise<AuditEntryResource[]> {
  const at = headers === administrator ? "/api/accounts/audit/" : "/api/account/audit/";
  const { status, body } = await account.send("GET", at + query, { headers });
  assert.equal(status, 200, JSON.stringify(body));
  return body.items;
}
const idOf = async (headers: Record<string, string>): Promise<string> =>
  (await account.send("GET", "/api/account/", { headers })).body.id;
const arrived = ({ subject }: Entry) =>
  eventually(async () => (await auditOf(administrator, `?subject=${subject}`))[0] ?? false);

test("an entry of another service is read only by its owner or an administrator", async () => {
  const headers = account.person();
  const entry = entryOf(await idOf(headers));
  await publish(entry);
  const { id, created_at, ...seen } = await arrived(entry);
  assert.deepEqual(seen, { ...entry });
  const [own] = await auditOf(headers, `?subject=${entry.subject}`);
  assert.deepEqual(own, { id, created_at, ...seen });
  const others = await auditOf(account.person(), `?subject=${entry.subject}`);
  assert.deepEqual(others, []);
  const text = `{ viewer { auditLog(subject: "${entry.subject}") { edges { node { accountId action requestId } } } } }`;
  const [edge] = (await account.query(headers, text)).data.viewer.auditLog.edges;
  const { account_id: accountId, action, request_id: requestId } = entry;
  assert.deepEqual(edge.node, { accountId, action, requestId });
});

test("an entry that comes late has its own time, and one that comes twice is there once", async () => {
  const headers = account.person();
  const entry = entryOf(await idOf(headers));
  const at = new Date(account.context.clock.nowMs() - hours(72));
  const event = { id: uuidv7(at.getTime()), data: entry };
  for (let count = 0; count < 2; count++) {
    await inTransaction(inside.pool, (tx) => takeAuditEntry(tx, event));
  }
  const entries = await auditOf(headers, `?subject=${entry.subject}`);
  assert.deepEqual(
    entries.map(({ id, created_at }) => [id, created_at]),
    [[event.id, at.toISOString()]],
  );
  const newest = await auditOf(headers);
  assert.equal(newest.at(-1)?.id, event.id, "it is where its time puts it");
});

test("an entry that comes after the purge of its account tells no more than the purge leaves", async () => {
  const headers = account.person();
  const id = await idOf(headers);
  const before = entryOf(id, { reason: "before" });
  await publish(before);
  await arrived(before);
  await account.send("DELETE", "/api/account/", { headers });
  const clock = createManualClock(new Date(account.context.clock.nowMs() + hours(24 * 31)));
  await purgeDueAccounts({ ...inside.service, clock });

  const late = entryOf(id, {
    reason: "late",
    actor: { ...before.actor, credential: "key_late", address: "203.0.113.8" },
  });
  await publish(late);
  const path = `/api/accounts/${id}/audit/?action=webhook_endpoint.update`;
  const entries: AuditEntryResource[] = await eventually(async () => {
    const { items } = (await account.send("GET", path, { headers: administrator })).body;
    return items.length === 2 && items;
  });
  for (const { subject, reason, actor } of entries) {
    const { credential, address } = actor;
    assert.deepEqual(
      { subject, reason, credential, address },
      { subject: null, reason: null, credential: "erased", address: null },
    );
  }
  // The callers chose these request ids.
  for (const word of [late.subject, late.request_id, before.subject, before.request_id, "key_late", "203.0.113.8"]) {
    assert.deepEqual(await rowsWith(inside.pool, word as string), []);
  }
});

test("filters narrow the owner's list and the administrators', alone and together, page by page", async () => {
  const headers = account.person();
  const id = await idOf(headers);
  const start = account.context.clock.nowMs() - hours(24);
  const by = (credential: string) => ({ ...entryOf(id).actor, credential });
  const subject = `whe_${crypto.randomUUID()}`;
  const entries = [
    entryOf(id, { action: "webhook_endpoint.create", subject, actor: by("key_one") }),
    entryOf(id, { subject, actor: by("key_two") }),
    entryOf(id, { subject, actor: by("key_two"), outcome: "refused", reason: "scope_required" }),
    entryOf(id, { action: "image.delete", actor: by("key_one") }),
  ];
  for (const [hour, data] of entries.entries()) {
    const event = { id: uuidv7(start + hours(hour)), data };
    await inTransaction(inside.pool, (tx) => takeAuditEntry(tx, event));
  }
  const at = (hour: number) => encodeURIComponent(new Date(start + hours(hour)).toISOString());
  const found: Record<string, number[]> = {
    [`subject=${subject}`]: [2, 1, 0],
    [`subject=${subject}&action=webhook_endpoint.update`]: [2, 1],
    [`subject=${subject}&outcome=done`]: [1, 0],
    [`actor=key_two&since=${at(0)}`]: [2, 1],
    [`actor=key_one&subject=${subject}`]: [0],
    [`actor=${id}&since=${at(1)}&until=${at(3)}`]: [2, 1],
    [`actor=${id}&action=image.delete`]: [3],
    [`subject=${subject}&since=${at(1)}`]: [2, 1],
    [`subject=${subject}&until=${at(0)}`]: [],
    "action=nothing": [],
  };
  const wanted = (indices: number[]) => indices.map((index) => entries[index]?.request_id);
  for (const [query, indices] of Object.entries(found)) {
    for (const reader of [headers, administrator]) {
      const list = await auditOf(reader, `?${query}`);
      assert.deepEqual(
        list.map(({ request_id }) => request_id),
        wanted(indices),
        query,
      );
    }
  }
  const first = (await account.send("GET", `/api/account/audit/?subject=${subject}&limit=2`, { headers })).body;
  const next = await auditOf(headers, `?subject=${subject}&limit=2&cursor=${encodeURIComponent(first.next_cursor)}`);
  assert.deepEqual(
    [...first.items, ...next].map(({ request_id }) => request_id),
    wanted([2, 1, 0]),
  );
  const inGraph = `{ accountsAuditLog(subject: "${subject}", outcome: refused, action: null) { edges { node { reason } } } }`;
  const { edges } = (await account.query(administrator, inGraph)).data.accountsAuditLog;
  assert.deepEqual(edges, [{ node: { reason: "scope_required" } }]);
  for (const bad of ["outcome=maybe", "since=yesterday", "actor=", "nothing=1"]) {
    assert.equal((await account.send("GET", `/api/account/audit/?${bad}`, { headers })).status, 400, bad);
  }
});

test("an owner finds an administrator's acts by the account alone", async () => {
  const headers = account.person();
  const id = await idOf(headers);
  const body = { status: "suspended", reason: "x" };
  await account.send("POST", `/api/accounts/${id}/status`, { headers: administrator, body });
  const [whole] = await auditOf(administrator, "?action=account.suspend&limit=1");
  const actor = whole?.actor;
  assert.deepEqual([whole?.account_id, typeof actor?.credential], [id, "string"]);
  assert.deepEqual(await auditOf(headers, `?actor=${actor?.credential}`), []);
  const [own] = await auditOf(headers, `?actor=${actor?.account_id}`);
  assert.deepEqual([own?.id, own?.actor.credential], [whole?.id, null]);
  const ofActor = await auditOf(administrator, `?actor=${actor?.account_id}&action=account.suspend`);
  assert.equal(ofActor[0]?.id, whole?.id);
});
