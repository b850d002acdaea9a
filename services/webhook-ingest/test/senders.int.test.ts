import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, sign as signBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { eventually, testPerson } from "@signalbox/testing";
import { type Preset, presets } from "@signalbox/webhook-signatures";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest();
});
after(() => ingest.close());

type Person = ReturnType<typeof testPerson>;
const presetsPath = "/api/v1/webhooks/presets";
const json = { "content-type": "application/json" };
const secret = "a secret of at least sixteen bytes";
const now = () => String(Math.floor(Date.now() / 1000));
const hmac = (hash: string, key: string | Buffer, content: string) => createHmac(hash, key).update(content);
const create = (body: object, who: Person = testPerson()) =>
  ingest.send(who, "POST", sourcesPath, { body: { name: "Shop", secret, ...body } });
const listOf = async (who: Person, { id }: { id: string }, list: "received" | "rejections") =>
  (await ingest.send(who, "GET", `${sourcesPath}/${id}/${list}`)).body.items;

test("a source of any preset is created with its scheme and settings", async () => {
  const wire = ({ requiredClaims, ...rest }: Preset["settings"] = {}) => ({
    ...rest,
    ...(requiredClaims && { required_claims: requiredClaims }),
  });
  for (const [name, { scheme, vector, settings }] of Object.entries<Preset>(presets)) {
    const body = {
      // Paddle's own tests sign with a secret that is too short to be stored.
      preset: name,
      secret: vector.secret.length >= 16 ? vector.secret : `${vector.secret}-made-longer`,
      ...(settings.handshake === "meta" && { verify_token: "meatyhamhock" }),
      settings: { ...wire(vector.settings), ...(vector.url && { public_url: vector.url }) },
    };
    const { status, body: source } = await create(body);
    assert.deepEqual([status, source.scheme, source.settings?.handshake], [201, scheme, settings.handshake], name);
  }
});

test("a preset has its scheme, and settings of the source override its own", async () => {
  const { body } = await create({ preset: "linear", settings: { tolerance_seconds: 60 } });
  assert.equal(body.settings.tolerance_seconds, 60);
  assert.equal(body.settings.signature_header, "linear-signature");
  const wrong = await create({ preset: "linear", scheme: "stripe" });
  assert.deepEqual([wrong.status, wrong.body.error.details[0].field], [422, "scheme"]);
  const neither = await create({});
  assert.deepEqual([neither.status, neither.body.error.details[0].field], [400, "scheme"]);
  const unknown = await create({ preset: "nobody" });
  const [{ field, message }] = unknown.body.error.details;
  assert.deepEqual([unknown.status, field], [422, "preset"]);
  assert.match(message, /no preset of this name/);
});

test("presets are listed by name in pages, and each shows what its owner needs, at both edges", async () => {
  const who = testPerson({ scopes: ["webhooks:read"] });
  const names: string[] = [];
  let query = "limit=50";
  for (;;) {
    const { status, body } = await ingest.send(who, "GET", `${presetsPath}?${query}`);
    assert.equal(status, 200);
    names.push(...body.items.map(({ name }: { name: string }) => name));
    if (!body.next_cursor) break;
    query = `limit=50&cursor=${body.next_cursor}`;
  }
  assert.deepEqual(names, Object.keys(presets).toSorted());
  for (const name of names) {
    const { status, body } = await ingest.send(who, "GET", `${presetsPath}/${name}`);
    assert.deepEqual([status, body.name], [200, name]);
    assert.ok(body.steps.length > 1 && body.retries && body.vector.secret, name);
  }
  const { body: github } = await ingest.send(who, "GET", `${presetsPath}/github`);
  assert.deepEqual(github.delivery_id, { header: "x-github-delivery", pointer: null, signed: false });
  const { body: linear } = await ingest.send(who, "GET", `${presetsPath}/linear`);
  assert.deepEqual(linear.event_type, { header: "linear-event", pointer: null, signed: false });
  assert.equal(linear.settings.timestamp_from.pointer, "/webhookTimestamp");

  const { body: pubsub } = await ingest.send(who, "GET", `${presetsPath}/google-pubsub`);
  assert.deepEqual([github.owner_settings, pubsub.owner_settings[0].name], [[], "audience"]);

  const selection = `... on Account { webhookPresets(first: 2) {
    edges { node { name settings deliveryId { pointer signed } vector { signedAt } } } pageInfo { endCursor }
  } }`;
  const { data } = await ingest.graphql(
    who,
    `query($of: [_Any!]!) { _entities(representations: $of) { ${selection} } }`,
    { of: [{ __typename: "Account", id: who.accountId }] },
  );
  const [{ node: first }, { node: second }] = data._entities[0].webhookPresets.edges;
  assert.deepEqual([first.name, second.name], names.slice(0, 2));
  assert.equal(first.settings.signatureFrom.pointer.split("/")[1], "notificationItems");
  assert.match(first.vector.signedAt, /^20\d\d-/);
});

test("a preset that does not exist is 404, and presets need the scope of sources", async () => {
  const missing = await ingest.send(testPerson(), "GET", `${presetsPath}/nobody`);
  assert.deepEqual([missing.status, missing.body.error.code], [404, "not_found"]);
  const stranger = testPerson({ scopes: ["images:read"] });
  assert.equal((await ingest.send(stranger, "GET", presetsPath)).status, 403);
  assert.equal((await ingest.send(null, "GET", presetsPath)).status, 401);
});

test("a template without the body, or with an unknown part, is 422 with the reason", async () => {
  for (const [signed_content, says] of [
    ["{timestamp}", /must have \{body\}/],
    ["{body}{nonce}", /\{nonce\} is unknown/],
    ["{body}".padEnd(1_025, "x"), /./],
  ] as const) {
    const { status, body } = await create({ scheme: "hmac", settings: { signed_content } });
    assert.deepEqual([status, body.error.details[0].field], [422, "settings.signed_content"]);
    assert.match(body.error.details[0].message, says);
  }
});

test("SHA-1 needs accept_weak, which the source then shows", async () => {
  const who = testPerson();
  const refused = await create({ scheme: "hmac", settings: { algorithm: "sha1" } });
  assert.deepEqual([refused.status, refused.body.error.details[0].field], [422, "settings.algorithm"]);
  const { body: source } = await create({ scheme: "hmac", settings: { algorithm: "sha1", accept_weak: true } }, who);
  assert.equal(source.settings.accept_weak, true);
  const [time, body] = [now(), '{"id":"d-1"}'];
  const headers = { ...json, "x-timestamp": time };
  const signed = { ...headers, "x-signature": `sha256=${hmac("sha1", secret, `${time}.${body}`).digest("hex")}` };
  assert.equal((await ingest.post(source, { headers: signed, body })).status, 202);
  const path = `${sourcesPath}/${source.id}`;
  const withdrawn = await ingest.send(who, "PATCH", path, { body: { settings: { accept_weak: null } } });
  assert.deepEqual([withdrawn.status, withdrawn.body.error.details[0].field], [422, "settings.algorithm"]);
});

test("a sender that signs method, address, headers and id in milliseconds is verified", async () => {
  const who = testPerson();
  const settings = {
    signed_content: "{method}\n{url}\n{header:X-Shop}\n{id}\n{timestamp}\n{body}",
    time_unit: "ms",
    encoding: "base64url",
    secret_encoding: "hex",
    signature_prefix: "",
    algorithm: "sha512",
  };
  const key = Buffer.alloc(24, 3);
  const { body: source } = await create({ scheme: "hmac", secret: key.toString("hex"), settings }, who);
  const base = ingest.context.configuration.get("http.base-url");
  const body = '{"type":"order.created"}';
  const post = (url: string, shop: string, id: string) => {
    const time = String(Date.now());
    const content = `POST\n${base}${source.ingest_path}?tag=7\nshop-1\nd-1\n${time}\n${body}`;
    const signature = hmac("sha512", key, content).digest("base64url");
    const headers = { ...json, "x-shop": shop, "x-delivery-id": id, "x-timestamp": time, "x-signature": signature };
    return ingest.post({ ingest_path: url }, { headers, body });
  };
  const url = `${source.ingest_path}?tag=7`;
  assert.equal((await post(source.ingest_path, "shop-1", "d-1")).status, 401);
  assert.equal((await post(url, "shop-2", "d-1")).status, 401);
  assert.equal((await post(url, "shop-1", "d-2")).status, 401);
  assert.equal((await post(url, "shop-1", "d-1")).status, 202);
  const [{ delivery_id, delivery_id_signed }] = await listOf(who, source, "received");
  assert.deepEqual([delivery_id, delivery_id_signed], ["d-1", true]);
});

test("a secret that does not fit its encoding is 422, even when only the encoding changes", async () => {
  for (const [given, secret_encoding] of [
    ["not hexadecimal at all, but long", "hex"],
    ["0011", "hex"],
    ["not base 64 at all, but long!!", "base64"],
    ["AAAA", "base64"],
  ]) {
    const { status, body } = await create({ scheme: "hmac", secret: given, settings: { secret_encoding } });
    assert.deepEqual([status, body.error.details[0].field], [422, "secret"], given);
  }
  const who = testPerson();
  const { body: source } = await create({ scheme: "hmac" }, who);
  const path = `${sourcesPath}/${source.id}`;
  const changed = await ingest.send(who, "PATCH", path, { body: { settings: { secret_encoding: "hex" } } });
  assert.deepEqual([changed.status, changed.body.error.details[0].field], [422, "secret"]);
});

test("a token in a header, as bearer or as Basic verifies its sender, and no other", async () => {
  const pair = "partner:a password of the partner";
  const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;
  for (const [settings, given, header, right, wrong] of [
    [{ token_header: "X-Partner-Key", token_format: "plain" }, secret, "x-partner-key", secret, `${secret} `.slice(1)],
    [{}, secret.replaceAll(" ", "-"), "authorization", `Bearer ${secret.replaceAll(" ", "-")}`, "Bearer nobody"],
    [{ token_format: "basic" }, pair, "authorization", basic(pair), basic("partner:guess")],
  ] as const) {
    const who = testPerson();
    const { status, body: source } = await create({ scheme: "token", secret: given, settings }, who);
    assert.equal(status, 201);
    const body = '{"id":"d-1","type":"push"}';
    assert.equal((await ingest.post(source, { headers: json, body })).status, 401);
    assert.equal((await ingest.post(source, { headers: { ...json, [header]: wrong }, body })).status, 401);
    assert.equal((await ingest.post(source, { headers: { ...json, [header]: right }, body })).status, 202);
    const [item] = await listOf(who, source, "received");
    assert.deepEqual([item.delivery_id, item.delivery_id_signed, item.event_type_signed], ["d-1", false, false]);
    const shown = await ingest.send(who, "GET", `${sourcesPath}/${source.id}/received/${item.id}`);
    assert.ok(!shown.text.includes(right), "the token is masked under any header name");
    const [event] = await ingest.eventsOf(who.accountId, 1, "webhook.received");
    assert.ok(!JSON.stringify(event).includes(right));
  }
});

test("a time in the signed body is checked both ways, and the same body has one effect", async () => {
  const who = testPerson();
  const { body: source } = await create({ preset: "linear" }, who);
  const post = (content: object, delivery: string) => {
    const body = JSON.stringify(content);
    const headers = { ...json, "linear-delivery": delivery, "linear-event": "Issue" };
    const signature = hmac("sha256", secret, body).digest("hex");
    return ingest.post(source, { headers: { ...headers, "linear-signature": signature }, body });
  };
  const fresh = { action: "create", webhookTimestamp: Date.now() };
  for (const late of [-310_000, 310_000]) {
    assert.equal((await post({ ...fresh, webhookTimestamp: Date.now() + late }, "d-0")).status, 401);
  }
  for (const none of [{}, { webhookTimestamp: "now" }, { webhookTimestamp: null }]) {
    assert.equal((await post({ action: "create", ...none }, "d-0")).status, 401);
  }
  for (const delivery of ["d-1", "d-2"]) assert.equal((await post(fresh, delivery)).status, 200);
  assert.equal((await listOf(who, source, "received")).length, 1);
});

test("Basic without a colon, and a token of another format, are 422", async () => {
  const without = await create({ scheme: "token", settings: { token_format: "basic" } });
  assert.deepEqual([without.status, without.body.error.details[0].field], [422, "secret"]);
  assert.equal((await create({ scheme: "token", settings: { token_format: "digest" } })).status, 422);
});

/** A source of Discord, and posts that are signed with its key. */
async function discordSource(who = testPerson()) {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const key = Buffer.from(publicKey.export({ format: "jwk" }).x as string, "base64url").toString("hex");
  const { body: source } = await create({ preset: "discord", secret: key }, who);
  const post = (body: string, signer = privateKey) => {
    const time = now();
    const signature = signBytes(null, Buffer.from(`${time}${body}`), signer).toString("hex");
    return ingest.post(source, {
      body,
      headers: { ...json, "x-signature-timestamp": time, "x-signature-ed25519": signature },
    });
  };
  return { source, post };
}

test("a webhook event of Discord is received, although it has the type of a PING", async () => {
  const who = testPerson();
  const { source, post } = await discordSource(who);
  assert.equal((await post('{"version":1,"application_id":"1234","type":0}')).status, 204);
  const event = '{"version":1,"application_id":"1234","type":1,"event":{"type":"ENTITLEMENT_CREATE","data":{}}}';
  assert.equal((await post(event)).status, 204);
  const types = (await listOf(who, source, "received")).map(({ event_type }: { event_type: string }) => event_type);
  assert.deepEqual(types, ["ENTITLEMENT_CREATE"]);
});

test("Discord's PING is answered once it is signed, and an interaction is accepted", async () => {
  const { post } = await discordSource();
  const ping = await post('{"type":1}');
  assert.deepEqual([ping.status, ping.body], [200, { type: 1 }]);
  assert.equal((await post('{"type":2,"id":"846462639134605312"}')).status, 204);
  assert.equal((await post('{"type":1}', generateKeyPairSync("ed25519").privateKey)).status, 401);
  const wrong = await create({ preset: "discord", secret });
  assert.deepEqual([wrong.status, wrong.body.error.details[0].field], [422, "secret"]);
});

test("Zoom's verification request is answered with its proof, when it is signed", async () => {
  const { body: source } = await create({ preset: "zoom" });
  const body = '{"event":"endpoint.url_validation","payload":{"plainToken":"qgg8vlvZRS6UYooatFL8Aw"}}';
  const time = now();
  const signature = `v0=${hmac("sha256", secret, `v0:${time}:${body}`).digest("hex")}`;
  const headers = { ...json, "x-zm-request-timestamp": time, "x-zm-signature": signature };
  const answer = await ingest.post(source, { headers, body });
  assert.equal(answer.status, 200);
  assert.equal(answer.body.encryptedToken, hmac("sha256", secret, answer.body.plainToken).digest("hex"));
  assert.equal((await ingest.post(source, { headers: json, body })).status, 401);
});

test("Meta, Dropbox, Microsoft and CloudEvents get answers to their verification requests", async () => {
  const [meta, dropbox, graph, events] = await Promise.all([
    create({ preset: "meta", verify_token: "meatyhamhock" }),
    create({ preset: "dropbox" }),
    create({ scheme: "token", settings: { token_format: "plain", handshake: "microsoft-graph" } }),
    create({ scheme: "hmac", settings: { handshake: "cloudevents" } }),
  ]);
  const ask = (method: string, { body }: { body: { ingest_path: string } }, query: string, headers = {}) =>
    ingest.send(null, method, `${body.ingest_path}?${query}`, { headers });
  const hub = "hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=";
  const answers = [
    await ask("GET", meta, `${hub}meatyhamhock`),
    await ask("GET", dropbox, "challenge=abc"),
    await ask("POST", graph, "validationToken=abc%20%C3%A9").then(({ status }) => ({ status, text: "" })),
    await ask("POST", graph, "validationToken=abc%3A%20d"),
  ];
  assert.deepEqual(
    answers.map(({ status, text }) => [status, text]),
    [
      [200, "1158201444"],
      [200, "abc"],
      [401, ""],
      [200, "abc: d"],
    ],
  );
  const asked = { "webhook-request-origin": "eventemitter.example.com" };
  const allowed = await ask("OPTIONS", events, "", asked);
  assert.deepEqual(
    [allowed.status, allowed.headers.get("webhook-allowed-origin"), allowed.headers.get("webhook-allowed-rate")],
    [200, "eventemitter.example.com", "*"],
  );
  const echoed = answers[0] as Awaited<ReturnType<typeof ask>>;
  assert.match(echoed.headers.get("content-type") ?? "", /^text\/plain/);
  assert.equal(echoed.headers.get("x-content-type-options"), "nosniff");
  const { body: refused } = await create({ preset: "meta" });
  assert.equal(refused.error.details[0].field, "verify_token");
});

test("a verification request with a wrong token, to another sender's source or to a paused one looks like an unknown source", async () => {
  const who = testPerson();
  const { body: meta } = await create({ preset: "meta", verify_token: "meatyhamhock" }, who);
  const ask = async (path: string, token = "meatyhamhock") => {
    const query = `hub.mode=subscribe&hub.challenge=1&hub.verify_token=${token}`;
    const { status, body } = await ingest.send(null, "GET", `${path}?${query}`);
    return [status, body?.error?.code, body?.error?.message];
  };
  const unknown = await ask("/ingest/src_unknown");
  assert.equal(unknown[0], 404);
  assert.deepEqual(await ask(meta.ingest_path, "wrong"), unknown);
  const { body: other } = await create({ scheme: "hmac" });
  assert.deepEqual(await ask(other.ingest_path), unknown);
  const path = `${sourcesPath}/${meta.id}`;
  await ingest.send(who, "PATCH", path, { body: { status: "paused" } });
  assert.deepEqual(await ask(meta.ingest_path), unknown);
  await ingest.send(who, "PATCH", path, { body: { status: "active" } });
  assert.equal((await ask(meta.ingest_path))[0], 200);
  await eventually(async () => {
    const items = await listOf(who, meta, "rejections");
    assert.equal(items.at(0)?.reason, "handshake_refused");
  });
});

test("changing a verify token needs a step-up, and it is in no answer, event or row", async () => {
  const who = testPerson();
  const token = "a-token-that-is-easy-to-find";
  const { body: source } = await create({ preset: "meta", verify_token: "the-first-token" }, who);
  const path = `${sourcesPath}/${source.id}`;
  const stale = testPerson({ accountId: who.accountId, authTimeMs: Date.now() - 16 * 60_000 });
  const refused = await ingest.send(stale, "PATCH", path, { body: { verify_token: token } });
  assert.deepEqual([refused.status, refused.body.error.details[0].code], [403, "step_up_required"]);
  const changed = await ingest.send(who, "PATCH", path, { body: { verify_token: token } });
  assert.equal(changed.status, 200);
  const { status } = await ingest.send(
    null,
    "GET",
    `${source.ingest_path}?hub.mode=subscribe&hub.challenge=1&hub.verify_token=${token}`,
  );
  assert.equal(status, 200);
  const [, updated] = await ingest.eventsOf(who.accountId, 2);
  assert.deepEqual((updated?.data as { changed?: string[] } | undefined)?.changed, ["verify_token"]);
  const { rows } = await ingest.pool.query({ name: "", text: "select s::text from sources s" });
  assert.ok(!JSON.stringify([changed.text, updated, rows, ingest.context.logged]).includes(token));
});

test("an answer, a size and a tolerance have bounds, and a sender gets its source's answer", async () => {
  const who = testPerson();
  for (const [settings, field] of [
    [{ answer: { status: 200, body: "é".repeat(513) } }, "settings.answer.body"],
    [{ answer: { status: 201 } }, "settings.answer.status"],
    [
      { answer: { status: 200, body: "x", content_type: "text/plain\r\nx-injected: 1" } },
      "settings.answer.content_type",
    ],
    [{ tolerance_seconds: 29 }, "settings.tolerance_seconds"],
    [{ tolerance_seconds: 3_601 }, "settings.tolerance_seconds"],
    [{ max_body_bytes: 0 }, "settings.max_body_bytes"],
    [{ max_body_bytes: 1_048_577 }, "settings.max_body_bytes"],
  ] as const) {
    const { status, body } = await create({ scheme: "hmac", settings }, who);
    assert.deepEqual([status, body.error.details[0].field], [422, field]);
  }
  const answer = { status: 200, body: '{"ok":true}', content_type: "application/json" };
  const { body: source } = await create({ scheme: "hmac", settings: { answer } }, who);
  assert.deepEqual(source.settings.answer, answer);
  const [time, body] = [now(), '{"id":"d-1"}'];
  const signature = `sha256=${hmac("sha256", secret, `${time}.${body}`).digest("hex")}`;
  const webhook = { headers: { ...json, "x-timestamp": time, "x-signature": signature }, body };
  const path = `${sourcesPath}/${source.id}`;
  for (const status of ["active", "stopped"]) {
    await ingest.send(who, "PATCH", path, { body: { status } });
    const answered = await ingest.post(source, webhook);
    assert.deepEqual([answered.status, answered.body], [200, { ok: true }], status);
    assert.match(answered.headers.get("content-type") ?? "", /^application\/json/);
  }
  assert.equal((await listOf(who, source, "received")).length, 1);
});

test("a secret under 16 bytes is taken where the sender has such, with a warning until it is replaced", async () => {
  const who = testPerson();
  const refused = await create({ scheme: "hmac", secret: "short-one" });
  assert.deepEqual([refused.status, refused.body.error.details[0].field], [422, "secret"]);
  const { status, body: source } = await create({ preset: "typeform", secret: "short-one" }, who);
  assert.equal(status, 201);
  assert.deepEqual(
    source.warnings.map(({ code }: { code: string }) => code),
    ["short_secret"],
  );
  assert.equal((await create({ preset: "typeform", secret: "five5" }, who)).status, 422);
  const body = '{"event_id":"e-1","event_type":"form_response"}';
  const signature = `sha256=${hmac("sha256", "short-one", body).digest("base64")}`;
  assert.equal(
    (await ingest.post(source, { headers: { ...json, "typeform-signature": signature }, body })).status,
    202,
  );

  const path = `${sourcesPath}/${source.id}`;
  const warningsOf = async () => (await ingest.send(who, "GET", path)).body.warnings.length;
  const withdrawn = await ingest.send(who, "PATCH", path, { body: { settings: { accept_short_secret: null } } });
  assert.deepEqual([withdrawn.status, withdrawn.body.error.details[0].field], [422, "secret"]);
  assert.equal((await ingest.send(who, "PATCH", path, { body: { name: "Forms" } })).body.warnings.length, 1);
  await ingest.send(who, "POST", `${path}/secret/rotate`, { body: { secret } });
  assert.equal(await warningsOf(), 0);
  await ingest.send(who, "PATCH", path, { body: { secret: "short-two" } });
  assert.equal(await warningsOf(), 1);
  for (const [settings, given] of [
    [{ secret_encoding: "hex" }, "0011223344556677"],
    [{ secret_encoding: "base64" }, "AAAAAAAAAAA="],
  ] as const) {
    const made = await create({ scheme: "hmac", secret: given, settings: { ...settings, accept_short_secret: true } });
    assert.deepEqual([made.status, made.body.warnings?.length], [201, 1]);
  }
});
