import assert from "node:assert/strict";
import { test } from "node:test";
import type { Caller } from "@signalbox/auth";
import { createManualClock, hours, newId } from "@signalbox/core";
import { serviceWith } from "@signalbox/testing";
import { configurationWith } from "../../test/configuration-with.ts";
import type { IngestService } from "../context/ingest-service.ts";
import type { Origin } from "./received-webhook.ts";
import { whyReceived } from "./why-received.ts";

/** The finders over a database that answers each statement with these rows. */
const findersOver = (rows: readonly object[], at: Date) =>
  whyReceived(
    serviceWith<IngestService>({
      pool: { query: async () => ({ rows: rows as never, rowCount: rows.length }) },
      configuration: configurationWith({ "webhook-ingest.received.retention": hours(30 * 24) }),
      clock: createManualClock(at),
    }),
  );

test("a received webhook that a delivery leads to and that is gone leaves a hole: its date, or its deleted source", () => {
  const finders = findersOver([], new Date("2026-03-01T12:00:00Z"));
  const missing = (at: string) => {
    const id = newId("rcv", Date.parse(at));
    return finders.find(({ knows }) => knows(id))?.missing?.(id);
  };
  assert.equal(missing("2026-01-01T12:00:00Z")?.reason, "expired 2026-01-31");
  assert.equal(missing("2026-02-27T12:00:00Z")?.reason, "its source was deleted");
  assert.equal(missing("2026-02-27T12:00:00Z")?.verdict, "hole");
});

test("the chain of a received webhook says that it was recovered from the sender's list", async () => {
  const at = new Date("2026-03-01T12:00:00Z");
  const id = newId("rcv", at.getTime());
  const row = { id, sourceId: "src_1", deliveryId: "d-1", eventType: "paid", receivedAt: at, forwarded: true };
  const caller = { accountId: "acc_1" } as Caller;
  const reasonOf = async (origin: Origin) => {
    const finders = findersOver([{ ...row, origin }], at);
    const found = await finders.find(({ knows }) => knows(id))?.find(caller, id);
    return found?.steps[0]?.reason ?? null;
  };
  assert.match((await reasonOf("reconciled")) ?? "", /^reconciled: /);
  assert.equal(await reasonOf("pushed"), null);
});
