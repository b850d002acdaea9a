import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import type { ExpiredRecords } from "../../event-log.ts";
import { onExpiredRecords } from "./expired-records.ts";

const OffsetManager = createRequire(import.meta.url)("kafkajs/src/consumer/offsetManager/index.js");

for (const [what, next, expired] of [
  ["records that expired unread are counted", "3", [{ topic: "t", partition: 0, records: 4 }]],
  ["an offset beyond the end counts nothing", "9", []],
] as const) {
  test(`${what}, and reading continues at the first record`, async () => {
    const seen: ExpiredRecords[] = [];
    const commits: unknown[] = [];
    const manager = Object.assign(Object.create(OffsetManager.prototype), {
      memberId: "m",
      topicConfigurations: { t: { fromBeginning: true } },
      cluster: {
        fetchTopicsOffset: async () => [{ topic: "t", partitions: [{ partition: 0, offset: "7" }] }],
        defaultOffset: () => -2,
      },
      getCoordinator: async () => ({ offsetCommit: async (commit: unknown) => commits.push(commit) }),
      nextOffset: () => next,
      clearOffsets: () => {},
    });
    const stop = onExpiredRecords("m", (one) => seen.push(one));
    await manager.setDefaultOffset({ topic: "t", partition: 0 });
    stop();
    assert.deepEqual(seen, expired);
    assert.equal(commits.length, 1);
  });
}
