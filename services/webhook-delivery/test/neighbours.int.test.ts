import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "@signalbox/storage";
import { createReceiver, eventually, testPerson } from "@signalbox/testing";
import { delivery, receiver, shareOneService, who } from "./one-service.ts";

shareOneService();

const path = "/api/v1/webhooks/events";
const ordersOf = (count: number) => ({
  body: Array.from({ length: count }, () => ({ type: "order.created", data: {} })),
});

// It took 27 s: the hanging deliveries filled the memory of the instance, and nobody's were leased until they ended.
test("a hundred hanging endpoints of one account delay no delivery of another", async (t) => {
  const hanging = await createReceiver({ instead: "hang" });
  t.after(hanging.close);
  const neighbour = testPerson();
  for (let count = 0; count < 100; count++) {
    await delivery.newEndpoint(neighbour, {
      url: `${hanging.url}/${count}`,
      event_types: ["order.*"],
      settings: { timeout_seconds: 30, retry_schedule_seconds: [0, 3_600] },
    });
  }
  await delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.*"] });
  const publish = async (by: typeof who, count: number) =>
    assert.equal((await delivery.send(by, "POST", path, ordersOf(count))).status, 202);
  await publish(neighbour, 100);
  await publish(neighbour, 100);
  await eventually(() => hanging.requests.length > 0);
  for (let count = 1; count <= 20; count++) {
    await publish(who, 5);
    await eventually(() => receiver.requests.length === count * 5);
  }
  const ended = sql("", "select 1 from delivery_attempts where account_id = $1");
  assert.deepEqual((await delivery.pool.query(ended, [neighbour.accountId])).rows, [], "they hang all the time");
});
