import assert from "node:assert/strict";
import { test } from "node:test";
import { createManualClock, seconds } from "@signalbox/core";
import type { PreparedEvent } from "@signalbox/events";
import { serviceWith } from "@signalbox/testing";
import { configurationWith } from "../../test/configuration-with.ts";
import type { IngestService } from "../context/ingest-service.ts";
import type { CachedSource } from "../sources/source-row.ts";
import { RejectionBudget } from "../state/rejection-budget.ts";
import { recordRejection } from "./record-rejection.ts";

function recorder(insert: () => Promise<void> = async () => {}) {
  const clock = createManualClock();
  const counts = { written: 0, dropped: 0, logged: 0 };
  const service = serviceWith<IngestService>({
    clock,
    rejectionBudget: new RejectionBudget(clock),
    sourceCache: {
      idAt: async (address) => address,
      find: async (id) => ({ source: { id, accountId: "acc_a" } }) as CachedSource,
    },
    sourceStatistics: { countRejection: () => {} },
    receivingMetrics: { countDroppedRejection: () => void counts.dropped++ },
    configuration: configurationWith({ "http.base-url": "", "webhook-ingest.rejections.max": 100 }),
    sealer: {},
    pool: {
      query: async () => {
        counts.written++;
        await insert();
        return { rows: [], rowCount: 0 };
      },
    },
    outbox: { prepare: (drafts) => drafts.map(() => ({}) as PreparedEvent), announce: () => {} },
    log: { info: () => {}, warn: () => void counts.logged++ },
  });
  const reject = async (sourceId: string, times: number) => {
    const refusal = { sourceId, reason: "signature_mismatch", status: 401, bodyBytes: 2, address: "192.0.2.1" };
    for (let time = 0; time < times; time++) recordRejection(service, refusal);
    await new Promise(setImmediate);
  };
  return { clock, counts, reject };
}

test("ten rejections of a source are written a second, the rest are only counted", async () => {
  const { clock, counts, reject } = recorder();
  await reject("src_a", 40);
  assert.deepEqual(counts, { written: 10, dropped: 30, logged: 0 });
  await reject("src_b", 10);
  assert.equal(counts.written, 20, "another source has its own bound");
  clock.advance(seconds(1));
  await reject("src_a", 1);
  assert.equal(counts.written, 21, "the next second begins anew");
});

test("a rejection that cannot be written is counted and logged, without delaying the answer", async () => {
  const { counts, reject } = recorder(() => Promise.reject(new Error("the database is away")));
  await reject("src_a", 1);
  assert.deepEqual(counts, { written: 1, dropped: 1, logged: 1 });
});
