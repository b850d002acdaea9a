import { after, afterEach, before, beforeEach } from "node:test";
import { createReceiver, type Receiver, type TestPerson, testPerson } from "@signalbox/testing";
import { type Harness, startDelivery } from "./harness.ts";

/** Starts and closes the one service that the tests of a file share. */
export let delivery: Harness;
/** Each test has a receiver and a person of its own. */
export let receiver: Receiver;
export let who: TestPerson;

before(async () => {
  delivery = await startDelivery();
});
after(() => delivery.close());
beforeEach(async () => {
  receiver = await createReceiver();
  who = testPerson();
});
afterEach(() => receiver.close());
