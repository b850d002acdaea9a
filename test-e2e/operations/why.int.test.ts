import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { eventually } from "@signalbox/testing";
import { openWhyScene, type Step, textsOf, type WhyScene } from "./why-scene.ts";

/** The ledger asks why of every id that was acknowledged; these chains need something more, or tell of a refusal. */
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

test("a delivery, its attempt or its event leads to one chain, up to what is to come", async () => {
  const owner = scene.person();
  const { endpoint, delivery } = await scene.delivered(owner, 500);
  const path = `/api/v1/webhooks/attempts?delivery_id=${delivery.id}`;
  const attempt = (await scene.send(owner, "GET", path)).json.items[0];
  const chain = await scene.why(owner, delivery.id);
  assert.match(textsOf(chain).join("\n"), /arrived for delivery/);
  assert.match(textsOf(chain).join("\n"), new RegExp(`created for the endpoint ${endpoint}`));
  const tried = chain.find(({ id }) => id === attempt.id);
  assert.deepEqual([tried?.verdict, tried?.reason], ["failed", "retry"]);
  assert.deepEqual([chain.at(-1)?.verdict, chain.at(-1)?.reason], ["waiting", "waiting: for its turn"]);
  const times = chain.flatMap(({ at }) => at ?? []);
  assert.deepEqual(times, times.toSorted(), "oldest first");
  for (const id of [attempt.id, delivery.event_id]) assert.deepEqual(await scene.why(owner, id), chain, id);

  const query = `query ($id: ID!) { why(id: $id) { what verdict service } }`;
  const graph = await scene.send(owner, "POST", "/graphql", { query, variables: { id: delivery.id } });
  assert.deepEqual(
    graph.json.data.why.map(({ what }: Step) => what),
    textsOf(chain),
  );
  const paused = await scene.send(owner, "POST", `/api/v1/webhooks/endpoints/${endpoint}/pause`);
  assert.equal(paused.status, 200, JSON.stringify(paused.json));
  assert.equal((await scene.why(owner, delivery.id)).at(-1)?.reason, "held: endpoint paused");
});

test("an image, a key or the request that made it leads to who did it", async () => {
  const owner = scene.person();
  const made = await scene.send(owner, "POST", "/api/account/api-keys/", { name: "deploy", scopes: ["account:read"] });
  const { id } = made.json;
  const chain = await scene.chainWith(owner, id, (steps) => has(steps, "api_key.create"));
  assert.ok(textsOf(chain).includes("The key was created."));
  assert.equal(chain.filter(({ by }) => by !== null).length > 0, true);
  const byRequest = await scene.why(owner, made.requestId);
  assert.ok(textsOf(byRequest).includes("The key was created."), JSON.stringify(byRequest));
  const entry = (await scene.send(owner, "GET", "/api/account/audit/?action=api_key.create")).json.items[0];
  assert.ok(textsOf(await scene.why(owner, entry.id)).includes("The key was created."));

  const refused = await scene.send({ "x-api-key": made.json.key }, "POST", "/api/v1/webhooks/endpoints", {});
  assert.equal(refused.status, 403);
  // The audit has the reason, and the note of the refused call the code; their times may be equal.
  await scene.chainWith(owner, refused.requestId, (steps) =>
    steps.some((step) => step.verdict === "refused" && step.reason === "scope_required" && step.by === id),
  );
  const missing = await scene.send(owner, "PATCH", "/images/img_01kdzq7c9p4r6s8t0v2w5x7y1z", { title: "Boat" });
  const [gone] = await scene.chainWith(owner, missing.requestId, (steps) => steps.length > 0);
  assert.deepEqual([gone?.what, gone?.reason], ["PATCH /images/:image_id was refused with 404.", "not_found"]);
  assert.deepEqual(await scene.why(scene.person(), missing.requestId), []);
  assert.deepEqual(
    await scene.why({ "x-api-key": made.json.key }, (await scene.delivered(owner, 200)).delivery.id),
    [],
  );
});

test("a refused webhook says why, an accepted one what became of it", async () => {
  const owner = scene.person();
  const source = await scene.newSource(owner);
  assert.equal((await scene.post(source, '{"a":1}', "another secret")).status >= 400, true);
  assert.equal((await scene.post(source, '{"a":1}')).status < 300, true);
  const base = `/api/v1/webhooks/sources/${source}`;
  const rejection = await eventually(
    async () => (await scene.send(owner, "GET", `${base}/rejections`)).json.items[0] ?? null,
  );
  const [refused] = await scene.why(owner, rejection.id);
  assert.deepEqual([refused?.verdict, refused?.reason], ["refused", rejection.reason]);
  const received = (await scene.send(owner, "GET", `${base}/received`)).json.items[0];
  assert.match((await scene.why(owner, received.id))[0]?.what ?? "", /of type push was accepted/);
});

test("nothing of another account exists, nor do rubbish or unknown ids", async () => {
  const [owner, stranger] = [scene.person(), scene.person()];
  const { endpoint, delivery } = await scene.delivered(owner, 200);
  const made = await scene.send(owner, "POST", "/api/account/api-keys/", { name: "mine", scopes: ["account:read"] });
  const theirs = [delivery.id, delivery.event_id, endpoint, made.json.id, made.requestId];
  const unknown = ["whd_01kdzq7c9p4r6s8t0v2w5x7y1z", "nothing", "'; drop table deliveries", "%00", "a".repeat(200)];
  const answers = await Promise.all(
    [...theirs, ...unknown].map((id) => scene.send(stranger, "GET", `/api/v1/why/${encodeURIComponent(id)}`)),
  );
  const [first] = answers;
  for (const { status, json } of answers) {
    assert.equal(status, 404);
    assert.deepEqual([json.error.code, json.error.message], [first?.json.error.code, first?.json.error.message]);
  }
  const query = `query ($id: ID!) { why(id: $id) { what } }`;
  assert.deepEqual(
    (await scene.send(stranger, "POST", "/graphql", { query, variables: { id: delivery.id } })).json.data.why,
    [],
  );
  const many = `{ ${Array.from({ length: 6 }, (_, at) => `w${at}: why(id: "x${at}") { what }`).join(" ")} }`;
  assert.equal((await scene.send(owner, "POST", "/graphql", { query: many })).json.errors?.length > 0, true);
  assert.equal((await fetch(`${scene.system.baseUrl}/api/v1/why/${delivery.id}`)).status, 401);
});

test("a revision of a property says who set it, for operators alone", async () => {
  const administrator = { "x-api-key": scene.system.apiKey };
  const query = "mutation($input: SetPropertyInput!) { setProperty(input: $input) { errors { message } } }";
  const input = { name: "limits.maxPageSize", value: 60, expectedRevision: "0", reason: "Slow lists" };
  await scene.send(administrator, "POST", "/graphql", { query, variables: { input } });
  const id = "limits.maxPageSize@1";
  const [step] = await scene.chainWith(administrator, id, (steps) => steps.length > 0);
  assert.match(step?.what ?? "", /^limits\.maxPageSize was set by acc_/);
  assert.equal(step?.reason, "Slow lists");
  assert.deepEqual(await scene.why(scene.person(), id), []);
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

test("no id of a caller stands for a link between services", async () => {
  const owner = scene.person();
  const image = await scene.upload(owner);
  for (const id of [`!${image}`, `>${image}`, ">rcv_01kdzq7c9p4r6s8t0v2w5x7y1z", "!rcv_01kdzq7c9p4r6s8t0v2w5x7y1z"]) {
    assert.equal((await scene.send(owner, "GET", `/api/v1/why/${encodeURIComponent(id)}`)).status, 404, id);
  }
});
