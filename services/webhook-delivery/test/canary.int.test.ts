import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { canaryAccountId, draft } from "@signalbox/contracts";
import { createMovableClock, minutes } from "@signalbox/core";
import { createReceiver, eventually, type Receiver, testPerson } from "@signalbox/testing";
import { endpointsPath, type Harness, startDelivery } from "./harness.ts";

const clock = createMovableClock();
/** The only internal address that customers may reach. */
let receiver: Receiver;
let delivery: Harness;

before(async () => {
  receiver = await createReceiver();
  const allowed = { "webhook-delivery.outbound.allow": `127.0.0.1:${receiver.port}` };
  delivery = await startDelivery({ "canary.enabled": true, ...allowed }, clock);
});
after(async () => {
  await delivery.close();
  await receiver.close();
});

const change = () =>
  delivery.publish(
    draft("account.canary_changed", {
      subject: canaryAccountId,
      accountId: canaryAccountId,
      data: { changed_at: clock.now().toISOString() },
    }),
  );

async function figureOf(series: string): Promise<number> {
  const line = (await delivery.context.metrics.text()).split("\n").find((one) => one.startsWith(series));
  return Number(line?.split(" ")[1] ?? 0);
}
const ageOf = (stage: "consumed" | "delivered") =>
  figureOf(`signalbox_canary_age_seconds{stage="${stage}",service="webhook-delivery"}`);
const arrived = () => figureOf("signalbox_canary_arrival_seconds_count");

async function changeAndArrive(): Promise<void> {
  const before = await arrived();
  await change();
  await eventually(async () => (await arrived()) === before + 1);
  await eventually(async () => (await ageOf("delivered")) < 60);
}

test("a canary arrives at the receiver of our own, signed", async () => {
  await changeAndArrive();
  assert.ok((await ageOf("consumed")) < 60);
});

test("the guard stays closed to customers while the canary passes", async () => {
  const { status } = await delivery.send(testPerson(), "POST", endpointsPath, {
    body: { url: "http://127.0.0.1:9/", event_types: ["image.created"] },
  });
  assert.equal(status, 422);
  await changeAndArrive();
});

test("a canary that is not consumed grows old at that stage", async () => {
  await changeAndArrive();
  clock.advance(minutes(10));
  assert.ok((await ageOf("consumed")) >= 600);
});

test("a canary that is consumed but not sent grows old at the last stage", async () => {
  await changeAndArrive();
  await delivery.changeState(canaryAccountId, "suspended");
  // Its deliveries wait in the queue from here on, as those of any account that may not act.
  clock.advance(minutes(10));
  await eventually(async () => {
    await change();
    return (await ageOf("consumed")) < 60 && (await ageOf("delivered")) >= 600;
  });
  await delivery.changeState(canaryAccountId, "active");
  await eventually(async () => (await ageOf("delivered")) < 60);
});

test("an operator's endpoint of all events hears nothing of the canary", async () => {
  const operator = testPerson({ authTimeMs: clock.nowMs() });
  await delivery.newEndpoint(operator, { url: receiver.url, event_types: ["*"], scope: "all" });
  await changeAndArrive();
  await delivery.createImage(testPerson().accountId);
  await receiver.waitFor(({ body }) => body.includes("image.created"));
  assert.deepEqual(
    receiver.requests.filter(({ body }) => body.includes("canary")),
    [],
  );
});

test("the attempts of the canary are none of customers' figures", async () => {
  await changeAndArrive();
  const arrivals = await figureOf("signalbox_webhook_arrival_seconds_count");
  await changeAndArrive();
  assert.equal(await figureOf("signalbox_webhook_arrival_seconds_count"), arrivals);
});
