import { after, afterEach, before, beforeEach } from "node:test";
import { createReceiver, type Receiver, type TestPerson, testPerson } from "@signalbox/testing";
import { type Harness, startDelivery } from "./harness.ts";

export let delivery: Harness;
/** A second instance on the same database, of those who share two. */
export let other: Harness;
/** Each test has a receiver and a person of its own. */
export let receiver: Receiver;
export let who: TestPerson;

/** Starts one service for all tests of the file that calls it, and closes it after them. */
export function shareOneService(overrides: Parameters<typeof startDelivery>[0] = {}): void {
  before(async () => {
    delivery = await startDelivery(overrides);
  });
  after(() => delivery.close());
  shareReceiver();
}

/** Starts two instances of the service on one database. */
export function shareTwoServices(): void {
  before(async () => {
    delivery = await startDelivery();
    const { configuration } = delivery.context;
    const urls = { "database.url": configuration.get("database.url"), "events.url": configuration.get("events.url") };
    other = await startDelivery(urls);
  });
  after(async () => {
    await other.close();
    await delivery.close();
  });
  shareReceiver();
}

function shareReceiver(): void {
  beforeEach(async () => {
    receiver = await createReceiver();
    who = testPerson();
  });
  afterEach(() => receiver.close());
}
