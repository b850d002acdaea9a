import assert from "node:assert/strict";
import { test } from "node:test";
import { createMailbox } from "@signalbox/testing";
import { usesPackedClient } from "../client-package/uses-packed-client.ts";
import { removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
import { createClient, expectStatus } from "./client.ts";
import { journeyProperties, runJourney } from "./journey.ts";
import { assertEvents } from "./read-events.ts";

test("embedded: a new user's journey through every service, and the data are there after a restart", async () => {
  const mailbox = await createMailbox();
  const properties = journeyProperties(mailbox);
  const first = await startEmbeddedSystem({ properties });
  try {
    const record = await runJourney(first, mailbox);
    await assertEvents(first.eventsUrl, record);
    await usesPackedClient(first, record.accountId);
    assert.deepEqual([...(await first.stop()).values()], [0], "a stop drains and exits with 0");

    const second = await startEmbeddedSystem({ properties, dataDirectory: first.dataDirectory });
    assert.equal(second.apiKey, first.apiKey, "the first key is kept");
    const send = createClient(second.baseUrl, second.apiKey);
    const image = expectStatus(await send(`/images/${record.imageId}`), 200);
    assert.equal(image.json.status, "ready");
    assert.deepEqual([...(await second.stop()).values()], [0]);
  } finally {
    await first.process.kill();
    await removeData(first);
    await mailbox.close();
  }
});
