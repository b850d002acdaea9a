import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { draft } from "@signalbox/contracts";
import { hours, randomId, systemClock } from "@signalbox/core";
import { inTransaction, sql } from "@signalbox/storage";
import { openTestService, type TestService } from "./contract/test-service.ts";
import { createReplayEngine, type ReplayKind, type ReplayRow } from "./replay-engine.ts";

interface Walk extends ReplayRow {
  readonly ownerId: string;
  readonly sent: number;
  readonly endedAt: Date | null;
}

const kind: ReplayKind<Walk> = {
  table: "walks",
  columns: { ownerId: "text", sent: "int4", endedAt: "timestamptz" },
  progress: ["sent", "endedAt"],
  listedBy: "account_id",
  parent: "owner_id",
  runningMax: 1,
  lateMsMax: 0,
  ended: (status, endedAt) => ({ status, endedAt }),
};
const totalMax = 4_000;
const accountId = randomId("acc");
const entry = { name: "audit.recorded" } as ReturnType<typeof draft<"audit.recorded">>;

let service: TestService;
let entries = 0;
let engine: ReturnType<typeof createReplayEngine<Walk>>;
before(async () => {
  service = await openTestService();
  const create = `create table walks (id text, account_id text, owner_id text, status text, event_types text[], rate int,
    total int, sent int, due_at timestamptz, created_at timestamptz, ended_at timestamptz)`;
  await service.pool.query(sql("", create));
  const append = async () => [`${entries++}`];
  // An hour ahead of the database, as an instance with a fast clock is.
  const clock = { ...systemClock, now: () => new Date(Date.now() + hours(1)) };
  engine = createReplayEngine(kind, { pool: service.pool, outbox: { append }, clock });
});
after(() => service.close());

const start = (
  total: number,
  { rate = null, ownerId = randomId("own"), dryRun = false }: Partial<Walk & { dryRun: boolean }> = {},
) => {
  const own = { id: randomId("walk"), accountId, ownerId, status: "running", eventTypes: [], rate, total, sent: 0 };
  const walk = { ...own, createdAt: new Date(), endedAt: null };
  return inTransaction(service.pool, (tx) => engine.start(tx, ownerId, walk, { totalMax, dryRun, entry }));
};
const started = async (total: number, rate: number | null = null): Promise<Walk> => {
  const answer = await start(total, { rate });
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

test("a replay goes on behind its last committed step, and is done with the last", async () => {
  const { id } = await started(3);
  await send(2);
  await assert.rejects(
    engine.step(() => Promise.reject(new Error("killed"))),
    /killed/,
  );
  const between = await engine.find(id, accountId);
  assert.deepEqual([between?.sent, between?.status, between?.endedAt], [2, "running", null]);
  assert.deepEqual([await send(2), await send(2)], ["again", "done"]);
  const [done] = await engine.list({ after: null, limit: 1 }, accountId);
  assert.deepEqual([done?.id, done?.sent, done?.status], [id, 3, "done"]);
  assert.ok((done?.endedAt?.getTime() ?? 0) > Date.now());
  assert.equal(await engine.find(id, randomId("acc")), null);
});

test("a dry run counts, and neither too many items nor one replay too many are started", async () => {
  const first = await started(totalMax);
  const before = entries;
  assert.deepEqual(await start(totalMax, { dryRun: true, ownerId: first.ownerId }), {
    outcome: "counted",
    count: totalMax,
  });
  assert.deepEqual(await start(totalMax + 1), { outcome: "too-many", max: totalMax });
  assert.deepEqual(await start(1, { ownerId: first.ownerId }), { outcome: "limit-reached", max: 1 });
  assert.equal(entries, before);
  await cancel(first);
});

test("a cancelled replay takes no further step, and is cancelled once", async () => {
  const cancelled = await cancel(await started(2));
  const before = entries;
  assert.deepEqual([await cancel(cancelled), await send(1), entries], [cancelled, "done", before]);
});

test("a step waits for the time that its items take, or that it asks for", async () => {
  for (const step of [() => send(totalMax - 1), () => engine.step(async () => ({ waitMs: hours(1) }))]) {
    const walk = await started(totalMax, 1);
    assert.deepEqual([await step(), await step()], ["again", "done"]);
    await cancel(walk);
  }
});
