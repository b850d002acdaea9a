import assert from "node:assert/strict";
import { test } from "node:test";
import { createReceiver, eventually, readEvents, testEventLog, testPerson } from "@signalbox/testing";
import { startDelivery } from "./harness.ts";

/** Statuses published for two deliveries that fail once each. */
const expected = { failed: [500, 500], all: [500, 200, 500, 200] } as const;

for (const [published, statuses] of Object.entries(expected)) {
  test(`with attempts.published=${published} ${published === "all" ? "every attempt is published" : "failed attempts are published"}`, async () => {
    await using opened = new AsyncDisposableStack();
    const receiver = await createReceiver();
    opened.defer(() => receiver.close());
    const delivery = await startDelivery({ "webhook-delivery.attempts.published": published });
    opened.defer(() => delivery.close());
    const eventLog = await testEventLog(delivery.context.configuration.get("events.url"), delivery.context);
    const { eventsOf } = await readEvents(eventLog, delivery.context, ["signalbox.webhook-attempt.v1"]);

    const who = testPerson();
    const { id } = await delivery.newEndpoint(who, { url: receiver.url, settings: { retry_schedule_seconds: [0, 0] } });
    for (let made = 0; made < 2; made++) {
      receiver.answerNext({ status: 500 });
      await delivery.createImage(who.accountId);
      await eventually(() => receiver.requests.length === 2 * (made + 1));
    }
    const events = await eventsOf(who.accountId, statuses.length, "webhook_delivery.attempted");
    const seen = events.map(
      ({ data }) => data as { endpoint_id: string; status: number; number: number; outcome: string },
    );
    assert.deepEqual(
      seen.map(({ status }) => status),
      statuses,
    );
    assert.deepEqual([seen[0]?.endpoint_id, seen[0]?.number, seen[0]?.outcome], [id, 1, "retry"]);
  });
}
