import assert from "node:assert/strict";
import { test } from "node:test";
import { createMailbox } from "@signalbox/testing";
import { removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
import { journeyProperties, runJourney } from "./journey.ts";
import { assertEvents } from "./read-events.ts";

test("embedded: a new user's journey through every service, and the events that it leaves", async () => {
  const mailbox = await createMailbox();
  const system = await startEmbeddedSystem({ properties: journeyProperties(mailbox) });
  try {
    await assertEvents(system.eventsUrl, await runJourney(system, mailbox));
    assert.deepEqual([...(await system.stop()).values()], [0], "a stop drains and exits with 0");
  } finally {
    await system.process.kill();
    await removeData(system);
    await mailbox.close();
  }
});
