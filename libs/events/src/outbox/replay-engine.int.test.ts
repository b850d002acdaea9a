import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { draft } from "@signalbox/contracts";
import { hours, randomId, systemClock } from "@signalbox/core";
import { inTransaction, sql } from "@signalbox/storage";
import { serviceWith } from "@signalbox/testing";
import { openTestService, type TestService } from "../../test/log-contract/test-service.ts";
import type { Outbox } from "./outbox.ts";
import { ReplayEngine, type ReplayKind, type ReplayRow } from "./replay-engine.ts";

interface Walk extends ReplayRow {
  readonly ownerId: string;
  readonly sent: number;
  readonly endedAt: Date | null;
}

const kind: ReplayKind<Walk> = {
  table: "walks",
  columns: {
    id: "text",
    accountId: "text",
    ownerId: "text",
    status: "text",
    eventTypes: "text[]",
    rate: "int4",
    total: "int4",
    sent: "int4",
    createdAt: "timestamptz",
    endedAt: "timestamptz",
  },
  progress: ["sent", "endedAt"],
  listedBy: "account_id",
  parent: "owner_id",
  runningMax: 1,
  lateMsMax: hours(1),
  ended: (status, endedAt) => ({ status, endedAt }),
};
const totalMax = 4_000;
const accountId = randomId("acc");
const entry = { name: "audit.recorded" } as ReturnType<typeof draft<"audit.recorded">>;

let service: TestService;
let entries = 0;
let engine: ReplayEngine<Walk>;
before(async () => {
  service = await openTestService();
  const create = `create table walks (id text, account_id text, owner_id text, status text, event_types text[], rate int,
    total int, sent int, due_at timestamptz, created_at timestamptz, ended_at timestamptz)`;
  await service.pool.query(sql("", create));
  const append = async () => [`${entries++}`];
  // An hour ahead of the database, as an instance with a fast clock is.
  const clock = { ...systemClock, now: () => new Date(Date.now() + hours(1)) };
  engine = new ReplayEngine(kind, { pool: service.pool, outbox: serviceWith<Outbox>({ append }), clock });
});
after(() => service.close());

const start = (changes: Partial<Walk>, dryRun = false) => {
  const ids = { id: randomId("walk"), accountId, ownerId: randomId("own"), eventTypes: [] };
  const walk = { ...ids, status: "running", rate: null, total: 3, sent: 0, createdAt: new Date(), endedAt: null };
  const replay = { ...walk, ...changes };
  return inTransaction(service.pool, (tx) => engine.start(tx, replay.ownerId, replay, { totalMax, dryRun, entry }));
};
const started = async (changes: Partial<Walk> = {}): Promise<Walk> => {
  const answer = await start(changes);
  assert.ok(answer.outcome === "started");
  return answer.replay;
};
const cancel = (walk: Walk) => inTransaction(service.pool, (tx) => engine.cancel(tx, walk, entry));
/** Sends up to `most` items. */
const send = (most: number) =>
  engine.step(async (_tx, walk) => {
    const count = Math.min(most, walk.total - walk.sent);
    return { replay: { ...walk, sent: walk.sent + count }, count, isLast: walk.sent + count === walk.total };
  });

test("a replay resumes behind its last committed step until it is done", async () => {
  const { id } = await started();
  await send(2);
  const killed = engine.step(() => Promise.reject(new Error("killed")));
  await assert.rejects(killed, /killed/);
  const between = await engine.find(id, accountId);
  assert.deepEqual([between?.sent, between?.status, between?.endedAt], [2, "running", null]);
  assert.deepEqual([await send(2), await send(2)], ["again", "done"]);
  const [done] = await engine.list({ after: null, limit: 1 }, accountId);
  assert.deepEqual([done?.id, done?.sent, done?.status], [id, 3, "done"]);
  assert.ok((done?.endedAt?.getTime() ?? 0) > Date.now());
  assert.equal(await engine.find(id, randomId("acc")), null);
});

test("a replay is refused beyond its limits; a dry run only counts", async () => {
  const first = await started();
  const { ownerId } = first;
  const before = entries;
  const counted = await start({ ownerId, total: totalMax }, true);
  assert.deepEqual(counted, { outcome: "counted", count: totalMax });
  assert.deepEqual(await start({ total: totalMax + 1 }), { outcome: "too-many", max: totalMax });
  assert.deepEqual(await start({ ownerId }), { outcome: "limit-reached", max: 1 });
  assert.equal(entries, before);
  await cancel(first);
});

test("a cancelled replay stays cancelled, without a further step", async () => {
  const cancelled = await cancel(await started());
  const before = entries;
  assert.deepEqual([await cancel(cancelled), await send(1), entries], [cancelled, "done", before]);
});

test("a step waits for the time that its items take, or that it asks for", async () => {
  for (const step of [() => send(totalMax - 1), () => engine.step(async () => ({ waitMs: hours(1) }))]) {
    const walk = await started({ total: totalMax, rate: 1 });
    assert.deepEqual([await step(), await step()], ["again", "done"]);
    await cancel(walk);
  }
});

test("a late step makes up for no more delay than its kind allows", async () => {
  const walk = await started({ total: totalMax, rate: 1 });
  await service.pool.query(sql("", "update walks set due_at = due_at - interval '10 h'"));
  assert.deepEqual([await send(3_600), await send(300), await send(1)], ["again", "again", "done"]);
  await cancel(walk);
});
