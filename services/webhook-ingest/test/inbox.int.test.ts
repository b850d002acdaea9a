import assert from "node:assert/strict";
import { test } from "node:test";
import { hours } from "@signalbox/core";
import { sql } from "@signalbox/storage";
import { eventually } from "@signalbox/testing";
import { startIngest } from "./harness.ts";

const consumer = "webhook-ingest.accounts";
const remember = sql(
  "",
  `insert into signalbox.inbox (consumer, event_id, received_at)
   select $1, gen_random_uuid(), clock_timestamp() - days * interval '1 day' from unnest($2::int[]) as days`,
);
const remembered = sql(
  "",
  `select extract(day from clock_timestamp() - received_at)::int as days from signalbox.inbox where consumer = $1
   order by days`,
);

test("the inbox deletes rows older than events.inbox.retention, and no younger ones", async (context) => {
  const first = await startIngest();
  await first.pool.query(remember, [consumer, [6, 9, 40]]);
  const another = await startIngest({
    "database.url": first.context.configuration.get("database.url"),
    "events.inbox.retention": hours(24 * 8),
  });
  context.after(async () => {
    await another.close();
    await first.close();
  });
  await eventually(async () => {
    const { rows } = await first.pool.query<{ days: number }>(remembered, [consumer]);
    assert.deepEqual(rows, [{ days: 6 }]);
  });
});
