import assert from "node:assert/strict";
import { systemClock } from "@signalbox/core";
import { decodeEvent, eventNameOf, openEventLog, type ReceivedRecord } from "@signalbox/events";
import { createLogger, createMetrics } from "@signalbox/telemetry";
import { eventually } from "@signalbox/testing";
import type { JourneyRecord } from "./journey.ts";

/** The topics of the journey's events, as an internal team would read them. */
const topics = [
  "signalbox.account.v1",
  "signalbox.access.v1",
  "signalbox.image.v1",
  "signalbox.webhook-source.v1",
  "signalbox.webhook-received.v1",
  "signalbox.webhook-delivery.v1",
];

/**
 * Reads all events through the public event log port and checks that the journey's are there, complete and in order.
 */
export async function assertEvents(eventsUrl: string, { accountId, imageId }: JourneyRecord): Promise<void> {
  const log = createLogger({ service: "test-e2e", instance: "reader", level: "error" });
  const metrics = createMetrics({ service: "test-e2e" });
  const eventLog = await openEventLog(eventsUrl, { clientId: "test-e2e", log, metrics, clock: systemClock });
  const records: ReceivedRecord[] = [];
  const reader = await eventLog.broadcast({
    service: "test-e2e",
    instance: "journey",
    topics,
    from: "start",
    onRecord: (record) => void records.push(record),
  });
  try {
    await eventually(() => {
      const names = records.map(({ headers }) => eventNameOf(headers));
      for (const name of ["account.created", "account.updated", "image.created", "image.rendition_ready"] as const) {
        assert.ok(names.includes(name), `${name} is on its topic`);
      }
      assert.ok(names.includes("webhook_endpoint.created") && names.includes("webhook_source.created"));
      assert.equal(names.filter((name) => name === "webhook.received").length, 1, "one webhook, one event");
    });
    const ofImage = records.filter(({ topic, key }) => topic === "signalbox.image.v1" && key === imageId);
    assert.deepEqual(
      ofImage.map(({ headers }) => eventNameOf(headers)),
      ["image.created", "image.rendition_ready"],
      "the events of one image come in the order of its changes",
    );
    const updated = records.find(({ headers }) => eventNameOf(headers) === "account.updated") as ReceivedRecord;
    const event = decodeEvent("account.updated", updated);
    assert.equal(event.accountId, accountId);
    assert.deepEqual(event.data.changed, ["display_name"]);
  } finally {
    await reader.close();
    await eventLog.close();
  }
}
