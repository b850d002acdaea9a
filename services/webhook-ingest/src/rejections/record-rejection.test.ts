import assert from "node:assert/strict";
import { test } from "node:test";
import { createManualClock, seconds } from "@signalbox/core";
import type { PreparedEvent } from "@signalbox/events";
import type { Logger } from "@signalbox/telemetry";
import { createRecordRejection } from "./record-rejection.ts";
import type { RejectionStore } from "./rejection-store.ts";

function recorder(insert: RejectionStore["insert"] = async () => []) {
  const clock = createManualClock();
  const counts = { written: 0, dropped: 0, logged: 0 };
  const record = createRecordRejection({
    rejectionStore: {
      insert: async (...given: Parameters<RejectionStore["insert"]>) => {
        counts.written++;
        return insert(...given);
      },
    },
    outbox: { prepare: (drafts) => drafts.map(() => ({}) as PreparedEvent), announce: () => {} },
    verifyUrlOf: () => "",
    clock,
    log: { info: () => {}, warn: () => counts.logged++ } as unknown as Logger,
    keptMax: () => 100,
    onDropped: () => counts.dropped++,
  });
  const reject = (sourceId: string, times: number) => {
    const rejection = { sourceId, reason: "signature_mismatch", status: 401, bodyBytes: 2, address: "192.0.2.1" };
    for (let time = 0; time < times; time++) record("acc_a", rejection);
  };
  return { clock, counts, reject };
}

test("ten rejections of a source are written a second, the rest are only counted", () => {
  const { clock, counts, reject } = recorder();
  reject("src_a", 40);
  assert.deepEqual(counts, { written: 10, dropped: 30, logged: 0 });
  reject("src_b", 10);
  assert.equal(counts.written, 20, "another source has its own bound");
  clock.advance(seconds(1));
  reject("src_a", 1);
  assert.equal(counts.written, 21, "the next second begins anew");
});

test("a rejection that cannot be written is counted and logged, without delaying the answer", async () => {
  const { counts, reject } = recorder(() => Promise.reject(new Error("the database is away")));
  reject("src_a", 1);
  await new Promise(setImmediate);
  assert.deepEqual(counts, { written: 1, dropped: 1, logged: 1 });
});
