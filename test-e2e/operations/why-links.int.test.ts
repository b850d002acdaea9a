import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { openWhyScene, type Step, textsOf, type WhyScene } from "./why-scene.ts";

let scene: WhyScene;
before(async () => {
  scene = await openWhyScene();
});
after(() => scene.close());

const has = (steps: readonly Step[], text: string) => steps.some(({ what }) => what.includes(text));
const newTrace = () => {
  const traceId = randomBytes(16).toString("hex");
  return { traceId, headers: { traceparent: `00-${traceId}-${randomBytes(8).toString("hex")}-00` } };
};

test("a received webhook leads to the deliveries of its event, each of which leads back", async () => {
  const owner = scene.person();
  scene.receiver.answer({ status: 200 });
  const endpoint = await scene.newEndpoint(owner, { event_types: ["received.github.push"] });
  const source = await scene.newSource(owner);
  await scene.post(source, '{"a":1}');
  const received = (await scene.send(owner, "GET", `/api/v1/webhooks/sources/${source}/received`)).json.items[0].id;
  const chain = await scene.chainWith(owner, received, (steps) => has(steps, "answered with 200"));
  assert.ok(has(chain, `created for the endpoint ${endpoint}`), JSON.stringify(chain));
  assert.ok(has(chain, "of type push was accepted"));
  const { items } = (await scene.send(owner, "GET", "/api/v1/webhooks/deliveries")).json;
  assert.deepEqual(textsOf(await scene.why(owner, items[0].id)), textsOf(chain));

  const replay = await scene.send(owner, "POST", `/api/v1/webhooks/sources/${source}/replays`, { ids: [received] });
  const again = await scene.chainWith(owner, replay.json.id, (steps) => has(steps, "The replay ended"));
  assert.ok(has(again, "of type push was accepted"), JSON.stringify(again));
  assert.deepEqual(await scene.why(scene.person(), replay.json.id), []);
});

test("a received webhook that is not forwarded says so; a fresh image waits for its first event", async () => {
  const owner = scene.person();
  const idOf = async (source: string) =>
    (await scene.send(owner, "GET", `/api/v1/webhooks/sources/${source}/received`)).json.items[0].id as string;
  const kept = await scene.newSource(owner, { forward: false });
  await scene.post(kept, "{}");
  const last = (await scene.why(owner, await idOf(kept))).at(-1);
  assert.equal(last?.reason, "not sent: forward is off");

  const image = await scene.upload(owner);
  const waiting = await scene.why(owner, image);
  assert.equal(waiting.at(-1)?.reason, "waiting: for its first event", JSON.stringify(waiting));
});

test("an event that a filter refuses names the endpoint of the filter", async () => {
  const owner = scene.person();
  const filter = { amount: { gt: 10 } };
  const endpoint = await scene.newEndpoint(owner, { event_types: ["order.*"], settings: { filter } });
  const { json } = await scene.send(owner, "POST", "/api/v1/webhooks/events", {
    type: "order.paid",
    data: { amount: 1 },
  });
  const chain = await scene.chainWith(owner, json.id ?? json.items[0].id, (steps) => steps.length > 1);
  const hole = chain.find(({ verdict }) => verdict === "hole");
  assert.deepEqual([hole?.reason, hole?.id], ["not sent: filter", endpoint], JSON.stringify(chain));
});

test("an image leads to the deliveries of its events and to the job of its variants, each of which leads back", async () => {
  const owner = scene.person();
  scene.receiver.answer({ status: 204 });
  await scene.newEndpoint(owner, { event_types: ["image.*"] });
  const trace = newTrace();
  const image = await scene.upload(owner, trace.headers);
  const isDone = (steps: readonly Step[]) =>
    has(steps, "Its named variants are rendered") &&
    has(steps, "image.create.") &&
    steps.filter(({ what }) => what.includes("answered with 204")).length === 2;
  const chain = await scene.chainWith(owner, image, isDone);
  assert.deepEqual(
    chain.filter(({ what }) => what.includes("arrived for delivery")).map(({ what }) => what.split(" ")[0]),
    ["image.created", "image.rendition_ready"],
  );
  const job = chain.find(({ id }) => id?.startsWith("job_"))?.id ?? "";
  const ofJob = await scene.why(owner, job);
  assert.ok(has(ofJob, "Its named variants are rendered") && has(ofJob, "The image was stored"), JSON.stringify(ofJob));
  const delivery = (await scene.send(owner, "GET", "/api/v1/webhooks/deliveries")).json.items[0];
  const ofDelivery = await scene.why(owner, delivery.id);
  assert.ok(has(ofDelivery, "The image was stored") && has(ofDelivery, "image.create."), JSON.stringify(ofDelivery));
  const events = ofDelivery.filter(({ what }) => what.includes("arrived for delivery"));
  assert.equal(events.length, 1, "a delivery leads to its image, not to the image's other events");
  const ofTrace = await scene.why(owner, trace.traceId);
  assert.ok(has(ofTrace, "image.create.") && has(ofTrace, "answered with 204"), JSON.stringify(ofTrace));
  const stranger = scene.person();
  for (const id of [image, job, trace.traceId]) assert.deepEqual(await scene.why(stranger, id), [], id);
});

test("a trace leads to what was published or refused in it", async () => {
  const owner = scene.person();
  const published = newTrace();
  const { delivery } = await scene.delivered(owner, 200, published.headers);
  assert.deepEqual(textsOf(await scene.why(owner, published.traceId)), textsOf(await scene.why(owner, delivery.id)));
  const refused = newTrace();
  await scene.send(owner, "GET", "/images/img_01kdzq7c9p4r6s8t0v2w5x7y1z", undefined, refused.headers);
  const [step] = await scene.chainWith(owner, refused.traceId, (steps) => steps.length > 0);
  assert.deepEqual([step?.verdict, step?.reason], ["refused", "not_found"]);
  assert.deepEqual(await scene.why(scene.person(), refused.traceId), []);
});

test("a replay leads to the deliveries that it sent again, an attempt back to the replay", async () => {
  const owner = scene.person();
  const { endpoint, delivery } = await scene.delivered(owner, 200);
  const from = new Date(Date.now() - 60_000).toISOString();
  const replay = (await scene.send(owner, "POST", "/api/v1/webhooks/replays", { endpoint_id: endpoint, from })).json.id;
  const isDone = (steps: readonly Step[]) => has(steps, `for the replay ${replay}`) && has(steps, "The replay ended");
  const chain = await scene.chainWith(owner, replay, isDone);
  assert.ok(has(chain, "A replay of 1 deliveries"), JSON.stringify(chain));
  assert.ok(has(await scene.why(owner, delivery.id), "The replay ended with 1 deliveries"));
  assert.deepEqual(await scene.why(scene.person(), replay), []);
});

test("no id of a caller stands for a link between services", async () => {
  const owner = scene.person();
  const image = await scene.upload(owner);
  for (const id of [`!${image}`, `>${image}`, ">rcv_01kdzq7c9p4r6s8t0v2w5x7y1z", "!rcv_01kdzq7c9p4r6s8t0v2w5x7y1z"]) {
    assert.equal((await scene.send(owner, "GET", `/api/v1/why/${encodeURIComponent(id)}`)).status, 404, id);
  }
});
