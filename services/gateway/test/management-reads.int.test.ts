import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { EventData } from "@signalbox/contracts";
import { readEvents, testPerson } from "@signalbox/testing";
import { type Harness, startGateway } from "./harness.ts";

let gateway: Harness;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());

test("a read of the gateway's management env is in the audit of its reader, although it has no database", async () => {
  const who = testPerson();
  const audit = await readEvents(gateway.eventLog, gateway.context, ["signalbox.audit.v1"]);
  const reader = await gateway.authorizeManagement(who.headers, "203.0.113.9");
  assert.ok(typeof reader === "object");
  reader.recordRead();
  const entries = (await audit.eventsOf(who.accountId, 1)).map(({ data }) => data as EventData<"audit.recorded">);
  assert.deepEqual(
    entries.map(({ action, subject }) => [action, subject]),
    [["management.read_env", "gateway"]],
  );
});
