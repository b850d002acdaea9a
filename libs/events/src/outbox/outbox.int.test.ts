import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { draft, eventOf } from "@signalbox/contracts";
import { newId } from "@signalbox/core";
import { inTransaction, sql } from "@signalbox/storage";
import { eventually } from "@signalbox/testing";
import { imageTopic, imageUpdated, parts } from "../../test/log-contract/log-under-test.ts";
import { openTestService, type TestService, testWorkers } from "../../test/log-contract/test-service.ts";
import { decodeEvent } from "../envelope/decode-event.ts";
import { type EventLog, type LogRecord, PublishError } from "../log/event-log.ts";
import { partitionOf } from "../log/partition-of.ts";
import * as deadEvents from "./dead-events.ts";
import { createOutbox, type Outbox } from "./outbox.ts";

const count = (table: string) => sql("", `select count(*)::int as rows from signalbox.${table}`);

describe("the outbox", () => {
  let service: TestService;
  before(async () => {
    service = await openTestService();
  });
  after(() => service.close());

  /** Creates a log whose answers the test decides. */
  function logThat(publish: (records: readonly LogRecord[]) => Promise<void>) {
    const published: LogRecord[] = [];
    const eventLog = {
      publish: async (records: readonly LogRecord[]) => {
        await publish(records);
        published.push(...records);
      },
    } as unknown as EventLog;
    return { eventLog, published };
  }
  const outbox = (options: Partial<Parameters<typeof createOutbox>[0]> = {}): Outbox =>
    createOutbox({ pool: service.pool, service: "images", maxBytes: 2_097_152, ...parts(), ...options });
  const rowsIn = async (table: string) => (await service.pool.query<{ rows: number }>(count(table))).rows[0]?.rows;
  const emptied = () => eventually(async () => (await rowsIn("outbox")) === 0);

  /** Appends one event per title for the key, in one transaction each. */
  async function append(box: Outbox, key: string, ...titles: string[]): Promise<void> {
    for (const title of titles) await inTransaction(service.pool, (tx) => box.append(tx, [imageUpdated(key, title)]));
  }
  const tokenRevoked = (subject: string) =>
    draft("access.changed", { subject, accountId: "acc_1", data: eventOf("access.changed").example });
  const titlesOf = (published: readonly LogRecord[], key: string) =>
    published.filter((one) => one.key === key).map((one) => decodeEvent("image.updated", one).data.title);

  function relay(box: Outbox, eventLog: EventLog) {
    const workers = testWorkers();
    workers.runner.worker("relay", (signal, beat) => box.runRelay(eventLog, signal, beat));
    return workers;
  }

  test("tombstones follow their events on a state topic, the only kind that takes them", async () => {
    const { eventLog, published } = logThat(async () => {});
    const box = outbox();
    const workers = relay(box, eventLog);
    const subject = `token:jti:corp:${newId("jti")}`;
    await inTransaction(service.pool, async (tx) => {
      await box.append(tx, [tokenRevoked(subject)]);
      await box.forget(tx, "access.changed", [subject]);
      await box.forget(tx, "access.changed", []);
    });
    await emptied();
    const topic = "signalbox.access.v1";
    assert.deepEqual(
      published.map((record) => [record.topic, record.key, record.value === null]),
      [
        [topic, subject, false],
        [topic, subject, true],
      ],
    );
    const refused = inTransaction(service.pool, (tx) => box.forget(tx, "image.updated", ["img_1"]));
    await assert.rejects(refused, /not compacted/);
    await workers.stop();
  });

  test("a committed event is published once as it is, leaving no row", async () => {
    const { eventLog, published } = logThat(async () => {});
    const box = outbox();
    const workers = relay(box, eventLog);
    const key = newId("img");
    const [id] = await inTransaction(service.pool, (tx) =>
      box.append(tx, [imageUpdated(key, "nul \u0000 lone \ud800")]),
    );
    await emptied();
    const [one] = published;
    assert.deepEqual([published.length, one?.topic, one?.key, one?.headers.ce_id], [1, imageTopic, key, id]);
    assert.deepEqual(titlesOf(published, key), ["nul \u0000 lone \ud800"]);
    await workers.stop();
  });

  test("a transaction that rolls back publishes nothing", async () => {
    const { eventLog, published } = logThat(async () => {});
    const box = outbox();
    const workers = relay(box, eventLog);
    const failing = inTransaction(service.pool, async (tx) => {
      await box.append(tx, [imageUpdated("img_lost", "never")]);
      throw new Error("changed my mind");
    });
    await assert.rejects(failing, /changed my mind/);
    await append(box, "img_kept", "kept");
    await emptied();
    assert.deepEqual(
      published.map(({ key }) => key),
      ["img_kept"],
    );
    await workers.stop();
  });

  test("the events of one append keep their order", async () => {
    const { eventLog, published } = logThat(async () => {});
    const box = outbox();
    const key = newId("img");
    const titles = Array.from({ length: 40 }, (_, index) => String(index));
    await inTransaction(service.pool, (tx) =>
      box.append(
        tx,
        titles.map((title) => imageUpdated(key, title)),
      ),
    );
    const workers = relay(box, eventLog);
    await emptied();
    assert.deepEqual(titlesOf(published, key), titles);
    await workers.stop();
  });

  test("events are published in order once the log is back", async () => {
    let isAway = true;
    const { eventLog, published } = logThat(async () => {
      if (isAway) throw new PublishError("unavailable", "away");
    });
    const box = outbox();
    const workers = relay(box, eventLog);
    const key = newId("img");
    await append(box, key, "1", "2", "3");
    assert.equal(await rowsIn("outbox"), 3);
    isAway = false;
    await emptied();
    assert.deepEqual(titlesOf(published, key), ["1", "2", "3"]);
    await workers.stop();
  });

  test("events that the log does not take delay only their own shard", async () => {
    const [poor, ...others] = await keysOfShards();
    let isAway = true;
    const { eventLog, published } = logThat(async (records) => {
      if (isAway && records.some(({ key }) => key === poor)) throw new PublishError("unavailable", "no leader");
    });
    const box = outbox();
    for (const key of [poor, ...others]) await append(box, key as string, "1", "2");
    const workers = relay(box, eventLog);
    await eventually(() => published.length === others.length * 2);
    await eventually(async () => (await rowsIn("outbox")) === 2); // rows leave with the commit after their publish
    isAway = false;
    await emptied();
    for (const key of [poor, ...others]) assert.deepEqual(titlesOf(published, key as string), ["1", "2"]);
    await workers.stop();
  });

  test("half of the shards go on while the other half fails", async () => {
    const keys = await keysOfShards();
    const poor = new Set(keys.slice(0, 4));
    let isAway = true;
    const { eventLog, published } = logThat(async (records) => {
      if (isAway && records.some(({ key }) => poor.has(key))) throw new PublishError("unavailable", "no leader");
    });
    const box = outbox();
    const workers = relay(box, eventLog);
    for (const round of ["1", "2", "3"]) {
      for (const key of keys) await append(box, key, round);
      await eventually(() => published.length === 4 * Number(round));
    }
    isAway = false;
    await emptied();
    for (const key of keys) assert.deepEqual(titlesOf(published, key), ["1", "2", "3"]);
    await workers.stop();
  });

  test("a blocked partition delays its own events only, in order", async () => {
    const place = { topic: imageTopic, partition: 3, partitions: 12 };
    const isPoor = (key: string) => partitionOf(key, place.partitions) === place.partition;
    let isAway = true;
    const published: LogRecord[] = [];
    const eventLog = {
      async publish(records: readonly LogRecord[]) {
        const waiting = isAway ? records.filter(({ key }) => isPoor(key)) : [];
        published.push(...records.filter((record) => !waiting.includes(record)));
        if (waiting.length > 0) throw new PublishError("unavailable", "no leader", { partitions: [place] });
      },
    } as unknown as EventLog;
    let steadyMs = 0;
    const box = outbox({ clock: { ...parts().clock, steadyMs: () => steadyMs } });
    const keys = Array.from({ length: 60 }, (_, index) => `img_partition_${index}`);
    const living = keys.filter((key) => !isPoor(key));
    assert.ok(living.length > 0 && living.length < keys.length);
    for (const title of ["1", "2"]) {
      const drafts = keys.map((key) => imageUpdated(key, title));
      await inTransaction(service.pool, (tx) => box.append(tx, drafts));
    }
    const workers = relay(box, eventLog);
    await eventually(() => published.length === living.length * 2);
    await eventually(async () => (await rowsIn("outbox")) === (keys.length - living.length) * 2);
    await append(box, living[0] as string, "3");
    await append(box, keys.find(isPoor) as string, "3");
    await eventually(() => published.length === living.length * 2 + 1);

    isAway = false;
    steadyMs += 60_000;
    await emptied();
    for (const key of keys) assert.deepEqual(titlesOf(published, key).slice(0, 2), ["1", "2"]);
    assert.deepEqual(titlesOf(published, keys.find(isPoor) as string), ["1", "2", "3"]);
    await workers.stop();
  });

  test("a shard held by another relay delays no other shard", async () => {
    const [held, ...others] = await keysOfShards();
    const { eventLog, published } = logThat(async () => {});
    const box = outbox();
    const workers = relay(box, eventLog);
    await inTransaction(service.pool, async (tx) => {
      await tx.query(sql("", "select pg_advisory_xact_lock(4201, hashtext($1) & 7)"), [held]);
      for (const key of [held, ...others]) await append(box, key as string, "1");
      await eventually(() => published.length === others.length);
    });
    await emptied();
    assert.deepEqual(titlesOf(published, held as string), ["1"]);
    await workers.stop();
  });

  /** Finds one key for each of the eight shards. */
  async function keysOfShards(): Promise<string[]> {
    const { rows } = await service.pool.query<{ key: string }>(
      sql(
        "",
        `select distinct on (hashtext(key) & 7) key from generate_series(1, 200) as number,
           lateral (select 'img_shard_' || number as key) named`,
      ),
    );
    return rows.map(({ key }) => key);
  }

  test("events of a publish without an answer come again after the timeout", async () => {
    let calls = 0;
    const { eventLog, published } = logThat(() => (calls++ === 0 ? new Promise(() => {}) : Promise.resolve()));
    const box = outbox({ publishTimeoutMs: 100 });
    const workers = relay(box, eventLog);
    await append(box, "img_late", "late");
    await emptied();
    assert.equal(published.length, 1);
    await workers.stop();
  });

  test("a row refused for good is put aside without delaying others of its page", async () => {
    const poison = newId("img");
    const { eventLog, published } = logThat(async (records) => {
      if (records.some(({ key }) => key === poison)) throw new PublishError("too-large", "no record of this size");
    });
    const box = outbox();
    const drafts = Array.from({ length: 20 }, (_, index) => imageUpdated(index === 7 ? poison : `img_${index}`, "x"));
    await inTransaction(service.pool, (tx) => box.append(tx, drafts));
    const workers = relay(box, eventLog);
    await emptied();
    assert.equal(published.length, 19);
    const { rows } = await service.pool.query<{ key: string; reason: string }>(
      sql("", "select key, reason from signalbox.outbox_dead"),
    );
    assert.deepEqual(rows, [{ key: poison, reason: "too-large: no record of this size" }]);
    await workers.stop();
  });

  test("a refused event counts until its replay publishes it under its id", async () => {
    const key = newId("img");
    let isRefused = true;
    const { eventLog, published } = logThat(async (records) => {
      if (isRefused && records.some((one) => one.key === key)) throw new PublishError("too-large", "no");
    });
    const common = parts();
    const box = outbox(common);
    const gauge = async () =>
      Number(/^signalbox_outbox_dead_depth\{.*\} (\d+)$/m.exec(await common.metrics.text())?.[1]);
    const before = await gauge();
    const [id = ""] = await inTransaction(service.pool, (tx) => box.append(tx, [imageUpdated(key, "x")]));
    const workers = relay(box, eventLog);
    await emptied();
    assert.equal(await gauge(), before + 1);

    isRefused = false;
    const dead = { id, key };
    const replays = await Promise.all([deadEvents.replay(service.pool, dead), deadEvents.replay(service.pool, dead)]);
    assert.deepEqual(replays.toSorted(), [false, true]);
    await eventually(() => published.some((one) => one.key === key));
    await emptied();
    assert.deepEqual([published.map(({ headers }) => headers.ce_id), await gauge()], [[id], before]);
    await workers.stop();
  });

  test("events of a missing topic wait without delaying others", async () => {
    let isMissing = true;
    const { eventLog, published } = logThat(async (records) => {
      if (isMissing && records.some(({ topic }) => topic === imageTopic)) {
        throw new PublishError("unknown-topic", "no such topic", { topic: imageTopic });
      }
    });
    let steadyMs = 0;
    const clock = { ...parts().clock, steadyMs: () => steadyMs };
    const box = outbox({ clock });
    const workers = relay(box, eventLog);
    await append(box, "img_waiting", "1", "2");
    await service.pool.query(
      sql(
        "",
        `insert into signalbox.outbox (event_id, shard, topic, key, headers, payload)
         select gen_random_uuid(), shard, 'signalbox.other.v1', 'img_waiting', '{}', 'x' from signalbox.outbox limit 1`,
      ),
    );
    await eventually(() => published.length === 1);
    assert.equal(published[0]?.topic, "signalbox.other.v1");
    isMissing = false;
    steadyMs += 60_000;
    await emptied();
    assert.deepEqual(titlesOf(published.slice(1), "img_waiting"), ["1", "2"]);
    await workers.stop();
  });

  test("an event that is too large rolls its transaction back", async () => {
    const box = outbox({ maxBytes: 2_000 });
    await assert.rejects(append(box, "img_large", "x".repeat(3_000)), { name: "AppError", code: "payload_too_large" });
    assert.equal(await rowsIn("outbox"), 0);
  });

  test("events of another instance are found without a signal", async () => {
    const { eventLog, published } = logThat(async () => {});
    const workers = relay(outbox(), eventLog);
    await append(outbox(), "img_other", "from elsewhere");
    await emptied();
    assert.equal(published.length, 1);
    await workers.stop();
  });

  test("an event carries the trace of its writer", async () => {
    const { tracer } = parts();
    const { eventLog, published } = logThat(async () => {});
    const box = outbox({ tracer });
    const workers = relay(box, eventLog);
    const traceId = await tracer.span("request", {}, async (span) => {
      await append(box, "img_traced", "traced");
      return span.traceId;
    });
    await emptied();
    assert.equal(published[0]?.headers.ce_traceparent?.split("-")[1], traceId);
    await workers.stop();
  });
});
