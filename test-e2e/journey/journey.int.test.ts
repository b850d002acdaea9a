import assert from "node:assert/strict";
import { test } from "node:test";
import { createMailbox } from "@signalbox/testing";
import { startEmbeddedIn } from "../systems/embedded-system.ts";
import { journeyProperties, runJourney } from "./journey.ts";
import { assertEvents } from "./read-events.ts";

test("embedded: a new user's journey through every service, and the events that it leaves", async () => {
  await using opened = new AsyncDisposableStack();
  const mailbox = opened.adopt(await createMailbox(), (one) => one.close());
  const system = await startEmbeddedIn(opened, journeyProperties(mailbox));
  await assertEvents(system.eventsUrl, await runJourney(system, mailbox));
  assert.deepEqual([...(await system.stop()).values()], [0], "a stop drains and exits with 0");
});
