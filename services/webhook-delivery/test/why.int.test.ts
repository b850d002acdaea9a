import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { Caller } from "@signalbox/auth";
import type { WhyStep } from "@signalbox/contracts";
import { createManualClock, hours, newId } from "@signalbox/core";
import { eventsAbout, linkTo, unmarked } from "@signalbox/service";
import { sql } from "@signalbox/storage";
import { eventually, serviceWith, testPerson } from "@signalbox/testing";
import type { DeliveryService } from "../src/context/delivery-service.ts";
import { whyDelivered } from "../src/deliveries/why-delivered.ts";
import { whyReplayed } from "../src/replays/why-replayed.ts";
import { delivery, receiver, shareOneService, who } from "./one-service.ts";

shareOneService();

const clock = createManualClock(new Date());
beforeEach(() => clock.advance(Date.now() - clock.nowMs()));

/** Asks the finders of this service, as the route between services does. */
async function why({ accountId }: { readonly accountId: string }, id: string): Promise<WhyStep[]> {
  const { pool } = delivery;
  const service = serviceWith<DeliveryService>({
    pool,
    clock,
    accessStates: { stateOf: () => null },
    configuration: { get: () => hours(30 * 24) as never },
    replayEngine: { find: async () => null },
  });
  const finders = [...whyDelivered(service), ...whyReplayed(service)];
  const thing = id.startsWith("!") ? unmarked(id) : id;
  const parts = await Promise.all(
    finders
      .filter(({ knows }) => knows(thing))
      .map(async ({ find, missing }) => {
        const part = await find({ accountId } as Caller, thing);
        return part?.steps ?? (id === thing || !missing ? [] : [missing(thing)]);
      }),
  );
  return parts.flat();
}

const reasonsOf = (steps: readonly WhyStep[]) => steps.flatMap(({ reason }) => reason ?? []);
const publish = async (subject: string, number: number) => {
  const body = { type: "order.changed", subject, data: { number } };
  const answer = await delivery.send(who, "POST", "/api/v1/webhooks/events", { body });
  assert.equal(answer.status, 202);
};
const deliveriesOf = (count: number) =>
  eventually(async () => {
    const found = await delivery.deliveriesOf(who);
    return found.length === count && found;
  });

test("a delivery that was held names the rate at which it drains", async () => {
  const settings = { rate: { limit: 1, per_seconds: 10 } };
  const { id } = await delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.*"], settings });
  const act = (action: string) => delivery.send(who, "POST", `/api/v1/webhooks/endpoints/${id}/${action}`);
  await act("pause");
  for (const number of [1, 2, 3]) await publish("user-7", number);
  const [newest] = await deliveriesOf(3);
  assert.deepEqual(reasonsOf(await why(who, newest?.id ?? "")), ["held: endpoint paused"]);
  await act("resume");
  const steps = await why(who, newest?.id ?? "");
  assert.deepEqual(reasonsOf(steps), ["waiting: held deliveries drain"]);
  assert.match(steps.at(-1)?.what ?? "", /one of [23], at 0\.1 a second/);
});

test("a delivery that waits for another of its order key names the key and the one ahead", async () => {
  receiver.answer({ status: 500 });
  await delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.*"], settings: { ordered: true } });
  await publish("user-7", 1);
  await publish("user-7", 2);
  const [second, first] = await deliveriesOf(2);
  await eventually(async () => (await delivery.attemptsOf(who, first?.id ?? "")).length > 0);
  const last = (await why(who, second?.id ?? "")).at(-1);
  assert.deepEqual([last?.verdict, last?.reason], ["waiting", "waiting: behind order key user-7"]);
  assert.equal(last?.what, `It waits for ${first?.id} to go out.`);
  assert.equal((await why(who, first?.id ?? "")).at(-1)?.reason, "waiting: for its turn");
});

test("an attempt that was answered after its lease is no success in the chain", async () => {
  receiver.answer({ status: 200 });
  await delivery.newEndpoint(who, { url: receiver.url, event_types: ["order.*"] });
  await publish("user-7", 1);
  const [sent] = await deliveriesOf(1);
  await eventually(async () => (await delivery.attemptsOf(who, sent?.id ?? "")).length > 0);
  await delivery.pool.query(sql("", "update delivery_attempts set counted = false where delivery_id = $1"), [sent?.id]);
  const attempt = (await why(who, sent?.id ?? "")).at(-1);
  assert.deepEqual([attempt?.verdict, attempt?.reason], ["failed", "late"]);
  assert.match(attempt?.what ?? "", /^Attempt 1 was answered with 200 .* too late to count/);
});

test("a message of a pull endpoint waits for a consumer, and a live lease leads to it", async () => {
  const { id } = await delivery.newEndpoint(who, { type: "pull", event_types: ["order.*"] });
  await publish("user-7", 1);
  const [waiting] = await deliveriesOf(1);
  assert.equal((await why(who, waiting?.id ?? "")).at(-1)?.reason, "waiting: for a consumer");
  const { body } = await delivery.send(who, "GET", `/api/v1/webhooks/endpoints/${id}/messages`);
  const chain = await why(who, body.items[0].lease_id);
  assert.deepEqual(chain, await why(who, waiting?.id ?? ""));
  assert.deepEqual(await why(testPerson(), body.items[0].lease_id), []);
});

test("an operator's delivery says that its event is in another account, and the owner of the event sees none of it", async () => {
  const operator = testPerson();
  await delivery.newEndpoint(operator, { url: receiver.url, scope: "all" });
  await delivery.createImage(who.accountId);
  const [copy] = await eventually(async () => {
    const found = await delivery.deliveriesOf(operator);
    return found.length > 0 && found;
  });
  assert.ok(reasonsOf(await why(operator, copy?.id ?? "")).includes("in another account"));
  assert.deepEqual(await why(who, copy?.id ?? ""), []);
});

test("an image without events says why, once they can no longer be on their way: a filter, nobody, or their age", async () => {
  const image = newId("img", clock.nowMs());
  clock.advance(61_000);
  assert.deepEqual(reasonsOf(await why(who, eventsAbout(image))), ["no endpoint subscribed"]);
  const filter = { width: { gt: 1 } };
  await delivery.newEndpoint(who, { url: receiver.url, settings: { filter } });
  const later = newId("img", clock.nowMs());
  clock.advance(61_000);
  assert.deepEqual(reasonsOf(await why(who, eventsAbout(later))), ["not sent: filter"]);
  const until = new Date(clock.nowMs() - 61_000 + hours(30 * 24)).toISOString().slice(0, 10);
  clock.advance(hours(31 * 24));
  assert.deepEqual(reasonsOf(await why(who, eventsAbout(later))), [`expired ${until}`]);
});

test("a replay that an attempt names and that is not kept any more leaves a hole with its date", async () => {
  const id = newId("whr", Date.parse("2026-01-01T12:00:00Z"));
  assert.deepEqual(reasonsOf(await why(who, linkTo(id))), ["expired 2026-01-31"]);
  assert.deepEqual(await why(who, id), []);
});
