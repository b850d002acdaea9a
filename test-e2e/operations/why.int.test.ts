import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, test } from "node:test";
import { createOidcIssuer, createReceiver, eventually, type OidcIssuer, type Receiver } from "@signalbox/testing";
import { type EmbeddedSystem, removeData, startEmbeddedSystem } from "../systems/embedded-system.ts";
import { trusting } from "../systems/trusted-people.ts";

let issuer: OidcIssuer;
let receiver: Receiver;
let system: EmbeddedSystem;
before(async () => {
  issuer = await createOidcIssuer();
  receiver = await createReceiver();
  const properties = { ...trusting(issuer), "webhook-delivery.outbound.allow": "127.0.0.1:*" };
  system = await startEmbeddedSystem({ properties });
});
after(async () => {
  await system.stop();
  await removeData(system);
  await receiver.close();
  await issuer.close();
});

type Headers = Record<string, string>;

interface Step {
  readonly at: string | null;
  readonly service: string;
  readonly id: string | null;
  readonly what: string;
  readonly verdict: string;
  readonly reason: string | null;
  readonly by: string | null;
}

function person(): Headers {
  const claims = { sub: crypto.randomUUID(), jti: crypto.randomUUID(), auth_time: Math.floor(Date.now() / 1000) };
  return { authorization: `Bearer ${issuer.sign(claims, { expiresInSeconds: 900 })}` };
}

async function send(who: Headers, method: string, path: string, body?: unknown, headers: Headers = {}) {
  const isBytes = typeof body === "string" || body instanceof FormData;
  const answer = await fetch(system.baseUrl + path, {
    method,
    headers: { ...who, ...(body !== undefined && !isBytes && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: isBytes ? (body as string) : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    requestId: answer.headers.get("x-request-id") ?? "",
    // biome-ignore lint/suspicious/noExplicitAny: bodies of many forms.
    json: (text === "" ? null : JSON.parse(text)) as any,
  };
}

async function why(who: Headers, id: string): Promise<readonly Step[]> {
  const { status, json } = await send(who, "GET", `/api/v1/why/${encodeURIComponent(id)}`);
  return status === 200 ? json.items : [];
}

const textsOf = (steps: readonly Step[]) => steps.map(({ what }) => what);

/** Creates an endpoint, publishes an event to it, and returns both with the delivery once it was attempted. */
async function delivered(owner: Headers, status: number) {
  receiver.answer({ status });
  const body = { url: receiver.url, event_types: ["order.paid"] };
  const endpoint = (await send(owner, "POST", "/api/v1/webhooks/endpoints", body)).json.id as string;
  const event = { type: "order.paid", data: { amount: 1 } };
  const published = await send(owner, "POST", "/api/v1/webhooks/events", event);
  assert.ok(published.status < 300, JSON.stringify(published.json));
  const delivery = await eventually(async () => {
    const { items } = (await send(owner, "GET", `/api/v1/webhooks/deliveries?endpoint_id=${endpoint}`)).json;
    return items.find(({ attempts }: { attempts: number }) => attempts > 0) ?? null;
  });
  return { endpoint, delivery: delivery as { id: string; event_id: string } };
}

test("a delivery, its attempt and its event lead to one chain: event, delivery, attempt, and what is to come", async () => {
  const owner = person();
  const { endpoint, delivery } = await delivered(owner, 500);
  const path = `/api/v1/webhooks/attempts?delivery_id=${delivery.id}`;
  const attempt = (await send(owner, "GET", path)).json.items[0];
  const chain = await why(owner, delivery.id);
  assert.match(textsOf(chain).join("\n"), /arrived for delivery/);
  assert.match(textsOf(chain).join("\n"), new RegExp(`created for the endpoint ${endpoint}`));
  const tried = chain.find(({ id }) => id === attempt.id);
  assert.deepEqual([tried?.verdict, tried?.reason], ["failed", "retry"]);
  assert.deepEqual([chain.at(-1)?.verdict, chain.at(-1)?.reason], ["waiting", "waiting: for its turn"]);
  const times = chain.flatMap(({ at }) => at ?? []);
  assert.deepEqual(times, times.toSorted(), "oldest first");
  for (const id of [attempt.id, delivery.event_id]) assert.deepEqual(await why(owner, id), chain, id);

  const query = `query ($id: ID!) { why(id: $id) { what verdict service } }`;
  const graph = await send(owner, "POST", "/graphql", { query, variables: { id: delivery.id } });
  assert.deepEqual(
    graph.json.data.why.map(({ what }: Step) => what),
    textsOf(chain),
  );
  const paused = await send(owner, "POST", `/api/v1/webhooks/endpoints/${endpoint}/pause`);
  assert.equal(paused.status, 200, JSON.stringify(paused.json));
  assert.equal((await why(owner, delivery.id)).at(-1)?.reason, "held: endpoint paused");
});

test("an event that no endpoint wants says so", async () => {
  const owner = person();
  await delivered(owner, 200);
  const { json } = await send(owner, "POST", "/api/v1/webhooks/events", { type: "nobody.cares", data: {} });
  const id = json.id ?? json.items?.[0]?.id;
  const chain = await eventually(async () => {
    const steps = await why(owner, id);
    return steps.length > 0 && steps;
  });
  assert.equal(chain.at(-1)?.reason, "no endpoint subscribed", JSON.stringify([json, chain]));
});

test("an image, a key and the request that made it lead to who did it", async () => {
  const owner = person();
  const made = await send(owner, "POST", "/api/account/api-keys/", { name: "deploy", scopes: ["account:read"] });
  const { id } = made.json;
  const chain = await eventually(async () => {
    const steps = await why(owner, id);
    return steps.some(({ what }) => what.startsWith("api_key.create")) && steps;
  });
  assert.ok(textsOf(chain).includes("The key was created."));
  assert.equal(chain.filter(({ by }) => by !== null).length > 0, true);
  const byRequest = await why(owner, made.requestId);
  assert.ok(textsOf(byRequest).includes("The key was created."), JSON.stringify(byRequest));
  const entry = (await send(owner, "GET", "/api/account/audit/?action=api_key.create")).json.items[0];
  assert.ok(textsOf(await why(owner, entry.id)).includes("The key was created."));

  const refused = await send({ "x-api-key": made.json.key }, "POST", "/api/v1/webhooks/endpoints", {});
  assert.equal(refused.status, 403);
  await eventually(async () => {
    const [step] = await why(owner, refused.requestId);
    return step?.verdict === "refused" && step.reason === "scope_required" && step.by === id;
  });
  const missing = await send(owner, "PATCH", "/images/img_01kdzq7c9p4r6s8t0v2w5x7y1z", { title: "Boat" });
  const [gone] = await eventually(async () => {
    const steps = await why(owner, missing.requestId);
    return steps.length > 0 && steps;
  });
  assert.deepEqual([gone?.what, gone?.reason], ["PATCH /images/:image_id was refused with 404.", "not_found"]);
  assert.deepEqual(await why(person(), missing.requestId), []);
  assert.deepEqual(await why({ "x-api-key": made.json.key }, (await delivered(owner, 200)).delivery.id), []);
});

test("a refused webhook says why, and leads to what a partner's accepted one became", async () => {
  const owner = person();
  const secret = "the secret of the partner";
  const source = (await send(owner, "POST", "/api/v1/webhooks/sources", { name: "Hub", scheme: "github", secret }))
    .json;
  const body = '{"a":1}';
  const post = (signature: string) =>
    send({}, "POST", `/ingest/${source.id}`, body, {
      "content-type": "application/json",
      "x-github-delivery": crypto.randomUUID(),
      "x-github-event": "push",
      "x-hub-signature-256": `sha256=${signature}`,
    });
  assert.equal((await post("0".repeat(64))).status >= 400, true);
  assert.equal((await post(createHmac("sha256", secret).update(body).digest("hex"))).status < 300, true);
  const base = `/api/v1/webhooks/sources/${source.id}`;
  const rejection = await eventually(
    async () => (await send(owner, "GET", `${base}/rejections`)).json.items[0] ?? null,
  );
  const [refused] = await why(owner, rejection.id);
  assert.deepEqual([refused?.verdict, refused?.reason], ["refused", rejection.reason]);
  const received = (await send(owner, "GET", `${base}/received`)).json.items[0];
  assert.match((await why(owner, received.id))[0]?.what ?? "", /of type push was accepted/);
});

test("nothing of another account exists, and neither do rubbish and unknown ids", async () => {
  const [owner, stranger] = [person(), person()];
  const { endpoint, delivery } = await delivered(owner, 200);
  const made = await send(owner, "POST", "/api/account/api-keys/", { name: "mine", scopes: ["account:read"] });
  const theirs = [delivery.id, delivery.event_id, endpoint, made.json.id, made.requestId];
  const unknown = ["whd_01kdzq7c9p4r6s8t0v2w5x7y1z", "nothing", "'; drop table deliveries", "%00", "a".repeat(200)];
  const answers = await Promise.all(
    [...theirs, ...unknown].map((id) => send(stranger, "GET", `/api/v1/why/${encodeURIComponent(id)}`)),
  );
  const [first] = answers;
  for (const { status, json } of answers) {
    assert.equal(status, 404);
    assert.deepEqual([json.error.code, json.error.message], [first?.json.error.code, first?.json.error.message]);
  }
  const query = `query ($id: ID!) { why(id: $id) { what } }`;
  assert.deepEqual(
    (await send(stranger, "POST", "/graphql", { query, variables: { id: delivery.id } })).json.data.why,
    [],
  );
  const many = `{ ${Array.from({ length: 6 }, (_, at) => `w${at}: why(id: "x${at}") { what }`).join(" ")} }`;
  assert.equal((await send(owner, "POST", "/graphql", { query: many })).json.errors?.length > 0, true);
  assert.equal((await fetch(`${system.baseUrl}/api/v1/why/${delivery.id}`)).status, 401);
});

test("a revision of a property says who set it, for operators alone", async () => {
  const administrator = { "x-api-key": system.apiKey };
  const query = "mutation($input: SetPropertyInput!) { setProperty(input: $input) { errors { message } } }";
  const input = { name: "limits.maxPageSize", value: 60, expectedRevision: "0", reason: "Slow lists" };
  await send(administrator, "POST", "/graphql", { query, variables: { input } });
  const id = "limits.maxPageSize@1";
  const [step] = await eventually(async () => {
    const steps = await why(administrator, id);
    return steps.length > 0 && steps;
  });
  assert.match(step?.what ?? "", /^limits\.maxPageSize was set by acc_/);
  assert.equal(step?.reason, "Slow lists");
  assert.deepEqual(await why(person(), id), []);
});
