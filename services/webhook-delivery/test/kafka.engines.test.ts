import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createReceiver, eventually, type OwnEngine, type Receiver, startEngine, testPerson } from "@signalbox/testing";
import { type Harness, startDelivery } from "./harness.ts";
import { assertSigned } from "./verifying.ts";

let kafka: OwnEngine;
let delivery: Harness;
let receiver: Receiver;
before(async () => {
  kafka = await startEngine("kafka");
  [delivery, receiver] = await Promise.all([startDelivery({ "events.url": kafka.url }), createReceiver()]);
});
after(async () => {
  await Promise.all([delivery?.close(), receiver?.close()]);
  await kafka?.close();
});

test("on Kafka an event goes through the fan-out to the subscriber, and its fate comes back as an event", async () => {
  const who = testPerson();
  const settings = { retry_schedule_seconds: [0, 0] };
  const endpoint = await delivery.newEndpoint(who, { url: receiver.url, settings });
  receiver.answerNext({ status: 500 });
  const id = await delivery.createImage(who.accountId);
  await eventually(() => receiver.requests.length === 2);
  for (const request of receiver.requests) {
    assertSigned(request, endpoint.secret);
    assert.equal(JSON.parse(request.body.toString()).data.id, id);
  }
  receiver.answer({ status: 500 });
  await delivery.createImage(who.accountId);
  const [event] = await delivery.eventsOf(who.accountId, 1, "webhook_delivery.exhausted");
  assert.equal((event?.data as { endpoint_id?: string } | undefined)?.endpoint_id, endpoint.id);
});
