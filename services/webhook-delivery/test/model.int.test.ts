import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "@signalbox/storage";
import { createReceiver, eventually, type TestPerson, testPerson } from "@signalbox/testing";
import * as fc from "fast-check";
import { endpointsPath, type Harness, startDelivery } from "./harness.ts";

let instances: readonly [Harness, Harness];
before(async () => {
  const first = await startDelivery();
  const { configuration } = first.context;
  const urls = { "database.url": configuration.get("database.url"), "events.url": configuration.get("events.url") };
  instances = [first, await startDelivery(urls)];
});
after(async () => {
  await instances[1].close();
  await instances[0].close();
});

/** State that the owner knows: the status of the endpoint and the published events. */
interface Model {
  status: "enabled" | "paused" | "disabled";
  readonly published: Set<string>;
}

/** An ordered endpoint of its own, and a receiver that remembers what it acknowledged. */
async function openWorld(who: TestPerson) {
  const receiver = await createReceiver();
  const [first] = instances;
  const under = new Set<string>();
  const overlaps: string[] = [];
  const acknowledged: { id: string; subject: string; sequence: number }[] = [];
  let answers = 200;
  receiver.answer(async ({ headers, body }) => {
    const { subject } = JSON.parse(body.toString());
    const [id, sequence] = [String(headers["x-delivery-id"]), Number(headers["x-sequence"])];
    if (under.has(subject)) overlaps.push(id);
    under.add(subject);
    await new Promise(setImmediate);
    under.delete(subject);
    if (answers === 200) acknowledged.push({ id, subject, sequence });
    return { status: answers };
  });
  const settings = { ordered: true, rate: { limit: 500, per_seconds: 1 }, retry_schedule_seconds: [0, ...zeros] };
  const { id } = await first.newEndpoint(who, { url: receiver.url, event_types: ["order.*"], settings });
  return {
    receiver,
    overlaps,
    acknowledged,
    id,
    answer: (status: number) => {
      answers = status;
    },
    act: (through: number, action: string) =>
      (instances[through] ?? first).send(who, "POST", `${endpointsPath}/${id}/${action}`),
    read: async () => (await first.send(who, "GET", `${endpointsPath}/${id}`)).body,
    publish: (through: number, events: object[]) =>
      (instances[through] ?? first).send(who, "POST", "/api/v1/webhooks/events", { body: events }),
    deliveries: () => first.deliveriesOf(who, `&endpoint_id=${id}`),
    retry: (deliveryId: string) => first.send(who, "POST", `/api/v1/webhooks/deliveries/${deliveryId}/retry`),
  };
}
const zeros = Array.from({ length: 19 }, () => 0);
type World = Awaited<ReturnType<typeof openWorld>>;
type Step = fc.AsyncCommand<Model, World>;

const publish = (through: number, subject: string, id: string, count: number): Step => ({
  check: () => true,
  async run(model, world) {
    const events = Array.from({ length: count }, (_, at) => ({ id: `${id}${at}`, type: "order.x", subject, data: {} }));
    const { status, body } = await world.publish(through, events);
    assert.equal(status, 202);
    for (const [at, { id: eventId }] of events.entries()) {
      assert.equal(body.items[at].duplicate, model.published.has(eventId));
      model.published.add(eventId);
    }
  },
  toString: () => `publish ${count} of ${subject} as ${id} through ${through}`,
});

const act = (through: number, action: "pause" | "resume" | "enable"): Step => ({
  check: () => true,
  async run(model, world) {
    const { status, body } = await world.act(through, action);
    const isRefused = model.status === "disabled" && action !== "enable";
    assert.equal(status, isRefused ? 409 : 200);
    if (isRefused) return;
    model.status = action === "pause" ? "paused" : "enabled";
    assert.equal(body.status, model.status);
  },
  toString: () => `${action} through ${through}`,
});

const answers = (status: 200 | 503): Step => ({
  check: () => true,
  run: async (_, world) => world.answer(status),
  toString: () => `answer ${status}`,
});

/** The receiver answers that it is gone, on a delivery sent for that purpose. */
const vanish: Step = {
  check: ({ status }) => status === "enabled",
  async run(model, world) {
    world.answer(410);
    const id = `gone-${model.published.size}`;
    await world.publish(0, [{ id, type: "order.x", subject: id, data: {} }]);
    model.published.add(id);
    await eventually(async () => (await world.read()).status === "disabled");
    world.answer(200);
    model.status = "disabled";
  },
  toString: () => "vanish",
};

const through = fc.nat(1);
const publishes = fc
  .tuple(through, fc.constantFrom("a", "b", "c"), fc.constantFrom("x", "y", "z"), fc.integer({ min: 1, max: 3 }))
  .map(([by, subject, id, count]) => publish(by, subject, `${id}${subject}`, count));
const commands = [
  publishes,
  publishes,
  fc
    .tuple(through, fc.constantFrom("pause" as const, "resume" as const, "enable" as const))
    .map(([by, action]) => act(by, action)),
  fc.constantFrom<200 | 503>(200, 503).map(answers),
  fc.constant(vanish),
];

/** Repairs everything, and checks that each event arrives once, in its order. */
async function heal(model: Model, world: World): Promise<void> {
  world.answer(200);
  await world.act(1, "enable");
  await world.act(1, "resume");
  const all = await eventually(
    async () => {
      const found = await world.deliveries();
      return found.every(({ status }) => status === "succeeded" || status === "exhausted") && found;
    },
    { message: "every delivery is over" },
  );
  assert.equal(all.length, model.published.size);
  for (const { id, status } of all) if (status === "exhausted") await world.retry(id);
  await eventually(async () => (await world.deliveries()).every(({ status }) => status === "succeeded"));
  const ids = world.acknowledged.map(({ id }) => id);
  assert.deepEqual(ids.toSorted(), all.map(({ id }) => id).toSorted(), "each is acknowledged once");
  assert.deepEqual(world.overlaps, []);
  const exhausted = new Set(all.filter(({ status }) => status === "exhausted").map(({ id }) => id));
  for (const own of Map.groupBy(world.acknowledged, ({ subject }) => subject).values()) {
    const inOrder = own.filter(({ id }) => !exhausted.has(id)).map(({ sequence }) => sequence);
    assert.deepEqual(
      inOrder,
      inOrder.toSorted((one, other) => one - other),
    );
    const sequences = own.map(({ sequence }) => sequence).toSorted((one, other) => one - other);
    assert.deepEqual(
      sequences,
      sequences.map((_, at) => at + 1),
      "no sequence is missing",
    );
  }
  const left = sql("", "select 1 from delivery_queue where endpoint_id = $1");
  await eventually(async () => (await instances[0].pool.query(left, [world.id])).rowCount === 0);
}

test("through any actions of an owner and a receiver on two instances, every event arrives once, in the order of its subject", async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 14 }), async (run) => {
      const world = await openWorld(testPerson());
      const model: Model = { status: "enabled", published: new Set() };
      try {
        await fc.asyncModelRun(() => ({ model, real: world }), run);
        await heal(model, world);
      } finally {
        await world.receiver.close();
      }
    }),
    { numRuns: 8, endOnFailure: true },
  );
});
