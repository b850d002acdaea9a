import assert from "node:assert/strict";
import { createHmac, randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { newId } from "@signalbox/core";
import { eventually, serviceWith, testPerson } from "@signalbox/testing";
import type { IngestService } from "../src/context/ingest-service.ts";
import { insertRejection } from "../src/rejections/rejection-store.ts";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import { secrets, sign, type Webhook } from "./signing.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest();
});
after(() => ingest.close());

type Person = ReturnType<typeof testPerson>;
type Source = { id: string; ingest_path: string };
type Shown = { id: string; kept: boolean; received_id?: null };

const keeping = { scheme: "hmac", secret: "not the secret of the shop", settings: { keep_rejected_bodies: true } };
const pathOf = ({ id }: Source) => `${sourcesPath}/${id}`;
const mend = (who: Person, source: Source) =>
  ingest.send(who, "PATCH", pathOf(source), { body: { secret: secrets.hmac } });

/** Posts a webhook that is refused, and returns its rejection. */
async function rejectionOf(who: Person, source: Source, webhook: Webhook) {
  assert.equal((await ingest.post(source, webhook)).status, 401);
  return eventually(async () => {
    const { body } = await ingest.send(who, "GET", `${pathOf(source)}/rejections`);
    return (body.items[0] ?? null) as { id: string; kept: boolean; received_id: string | null } | null;
  });
}
const retry = (who: Person, source: Source, { id }: { id: string }) =>
  ingest.send(who, "POST", `${pathOf(source)}/rejections/${id}/retry`);
const receivedOf = async (who: Person, source: Source) =>
  (await ingest.send(who, "GET", `${pathOf(source)}/received`)).body.items;

test("a wrong secret costs no data: refused webhooks are kept, and accepted once with the right secret", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, keeping);
  const body = '{ "id": "d-1", "amount": 12345678901234567890 }';
  const webhook = sign("hmac", { body });
  const rejection = await rejectionOf(who, source, webhook);
  assert.deepEqual([rejection.kept, rejection.received_id], [true, null]);
  const read = (await ingest.send(who, "GET", `${pathOf(source)}/rejections/${rejection.id}`)).body;
  assert.deepEqual(
    [read.headers["x-signature"], read.headers["content-type"], Buffer.from(read.body_base64, "base64").toString()],
    ["******", "application/json", body],
  );
  const early = await retry(who, source, rejection);
  assert.deepEqual(
    [early.status, early.body.error.message],
    [409, "The webhook is refused again: signature_mismatch."],
  );
  await mend(who, source);
  // A concurrent retry has no second effect.
  const answers = await Promise.all([retry(who, source, rejection), retry(who, source, rejection)]);
  assert.deepEqual(answers.map((answer) => answer.body.outcome).sort(), ["received", "repeated"]);
  const [received] = await receivedOf(who, source);
  assert.deepEqual([...new Set(answers.map((answer) => answer.body.received_id))], [received.id]);
  const bytes = await ingest.send(who, "GET", `${pathOf(source)}/received/${received.id}/body`);
  assert.equal(bytes.text, body);
  assert.equal((await ingest.post(source, webhook)).status, 202, "the partner sends it again, too");
  assert.equal((await receivedOf(who, source)).length, 1);
  assert.equal((await ingest.eventsOf(who.accountId, 1, "webhook.received")).length, 1);
  const [{ received_id }] = (await ingest.send(who, "GET", `${pathOf(source)}/rejections`)).body.items;
  assert.equal(received_id, received.id);
});

test("each kept rejection is one event, as the list shows it", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, keeping);
  const large = sign("hmac", { body: JSON.stringify("x".repeat(70_000)) });
  const limit = ingest.context.configuration.get("limits.maxWebhookBytes");
  const unread = sign("hmac", { body: JSON.stringify("x".repeat(limit)) });
  for (const [webhook, status] of [
    [sign("hmac", { ageSeconds: 600 }), 401],
    [sign("hmac"), 401],
    [large, 401],
    [unread, 413],
  ] as const) {
    assert.equal((await ingest.post(source, webhook)).status, status);
  }
  const listed: Shown[] = await eventually(async () => {
    const { items } = (await ingest.send(who, "GET", `${pathOf(source)}/rejections`)).body;
    return items.length === 4 && items;
  });
  assert.deepEqual(listed.map(({ kept }) => kept).toSorted(), [false, true, true, true]);
  // Events of a source are in order, so that a second event of an earlier rejection would stand before this one.
  await ingest.post(source, sign("hmac"));
  const events = await ingest.eventsOf(who.accountId, 5, "webhook.rejected");
  assert.deepEqual([...new Set(events.map(({ subject }) => subject))], [source.id]);
  const byId = (a: { id: string }, b: { id: string }) => a.id.localeCompare(b.id);
  assert.deepEqual(
    events
      .slice(0, 4)
      .map(({ data }) => data as unknown as Shown)
      .sort(byId),
    listed.map(({ received_id: _, ...shown }) => ({ source_id: source.id, ...shown })).sort(byId),
  );
});

test("a rejection of a source that was deleted meanwhile is neither a row nor an event", async () => {
  const service = serviceWith<IngestService>({ pool: ingest.pool, sealer: {} });
  const source = await ingest.newSource(testPerson(), keeping);
  const write = (sourceId: string) => {
    const refused = { sourceId, reason: "signature_mismatch", status: 401, bodyBytes: 2, address: "192.0.2.1" };
    const more = { rejectedAt: new Date(), figures: null, isKept: false, receivedId: null };
    const event = { topic: "signalbox.webhook-rejection.v1", key: sourceId, headers: "{}", keyHash: 0 };
    const prepared = { ...event, eventId: randomUUID(), payload: Buffer.from("{}") };
    return insertRejection(service, { ...refused, ...more, id: newId("rej", Date.now()) }, prepared, 10, null);
  };
  assert.deepEqual(await write("src_3kVn7RtY1bQzXw5Lm9PdHc"), []);
  assert.equal((await write(source.id)).length, 1);
});

test("a retried webhook that the partner sent again meanwhile is a repetition", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, keeping);
  const webhook = sign("hmac");
  const rejection = await rejectionOf(who, source, webhook);
  await mend(who, source);
  assert.equal((await ingest.post(source, webhook)).status, 202);
  assert.deepEqual((await retry(who, source, rejection)).body, { outcome: "repeated", received_id: null });
  assert.equal((await receivedOf(who, source)).length, 1);
});

test("a retry is judged at the time of the webhook's arrival", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { ...keeping, secret: secrets.hmac });
  const rejection = await rejectionOf(who, source, sign("hmac", { ageSeconds: 600 }));
  const late = await retry(who, source, rejection);
  assert.match(late.body.error.message, /timestamp_too_old/);
  const text = "update rejections set rejected_at = rejected_at - interval '10 minutes' where id = $1";
  await ingest.pool.query({ name: "", text }, [rejection.id]);
  assert.equal((await retry(who, source, rejection)).body.outcome, "received");
  const [{ received_at }] = await receivedOf(who, source);
  assert.ok(Date.parse(received_at) > Date.now() - 60_000, "it is received when it is taken");
});

test("without the setting nothing is kept", async () => {
  const who = testPerson();
  const plain = await ingest.newSource(who, { scheme: "hmac", secret: keeping.secret });
  const unkept = await rejectionOf(who, plain, sign("hmac"));
  const read = (await ingest.send(who, "GET", `${pathOf(plain)}/rejections/${unkept.id}`)).body;
  assert.deepEqual([unkept.kept, read.headers, read.body_base64], [false, null, null]);
  assert.equal((await retry(who, plain, unkept)).status, 409);
});

test("a large body is kept whole", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, keeping);
  const large = await rejectionOf(who, source, sign("hmac", { body: JSON.stringify("x".repeat(700_000)) }));
  const shown = (await ingest.send(who, "GET", `${pathOf(source)}/rejections/${large.id}`)).body;
  assert.deepEqual([large.kept, Buffer.from(shown.body_base64, "base64").length], [true, 4_096]);
  await mend(who, source);
  assert.equal((await retry(who, source, large)).body.outcome, "received");
});

test("signatures of kept webhooks are sealed, and no other account reads or retries them", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, keeping);
  const webhook = sign("hmac");
  const rejection = await rejectionOf(who, source, webhook);
  const { rows } = await ingest.pool.query(
    { name: "", text: "select r::text as row from rejections r where id = $1" },
    [rejection.id],
  );
  const read = await ingest.send(who, "GET", `${pathOf(source)}/rejections/${rejection.id}`);
  const signature = webhook.headers["x-signature"]?.slice("sha256=".length) ?? "";
  for (const text of [JSON.stringify(rows), read.text, JSON.stringify(ingest.context.logged)]) {
    assert.ok(!text.includes(signature));
  }
  const other = testPerson();
  const theirs = await ingest.newSource(other, keeping);
  for (const [whose, of] of [
    [other, source],
    [other, theirs],
  ] as const) {
    assert.equal((await retry(whose, of, rejection)).status, 404);
    assert.equal((await ingest.send(whose, "GET", `${pathOf(of)}/rejections/${rejection.id}`)).status, 404);
  }
});

test("a pasted webhook is explained with the failed step, its expectation and hints", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { scheme: "hmac", secret: secrets.hmac, event_types: ["order.*"] });
  const explain = async ({ headers, body }: Webhook, more: object = {}) => {
    const pasted = {
      headers,
      ...(Buffer.isBuffer(body) ? { body_base64: body.toString("base64") } : { body }),
      ...more,
    };
    const answer = await ingest.send(who, "POST", `${pathOf(source)}/verify`, { body: pasted });
    assert.equal(answer.status, 200, answer.text);
    const signature = headers["x-signature"]?.slice("sha256=".length);
    assert.ok(!signature || !answer.text.includes(signature));
    return answer.body;
  };
  const json = '{\n  "id": "d-1"\n}\n';
  const right = sign("hmac", { id: "d-1", body: json });
  const { outcome, delivery_id, event_type, headers_read } = await explain(right);
  assert.deepEqual([outcome, delivery_id, event_type], ["accepted", "d-1", "order.created"]);
  assert.ok(headers_read.includes("x-signature") && headers_read.includes("x-timestamp"));

  const without = (name: string) => ({
    ...right,
    headers: Object.fromEntries(Object.entries(right.headers).filter(([key]) => key !== name)),
  });
  const old = sign("hmac", { ageSeconds: 3_600 });
  const cases: [Webhook, string, string, string[]][] = [
    [without("x-signature"), "signature_missing", "signature", []],
    [without("x-timestamp"), "timestamp_missing", "time", []],
    [{ ...right, body: `${json}x` }, "signature_mismatch", "signature", []],
    [
      { ...right, body: json.trimEnd() },
      "signature_mismatch",
      "signature",
      ["It would verify with a line break at its end."],
    ],
    [old, "timestamp_too_old", "time", ["The signature itself is right."]],
    [{ ...old, body: "{}" }, "signature_mismatch", "signature", []],
  ];
  for (const [webhook, reason, step, hints] of cases) {
    const explained = await explain(webhook);
    assert.deepEqual(
      [explained.outcome, explained.reason, explained.step, explained.hints],
      ["refused", reason, step, hints],
    );
    assert.ok(explained.expected.length > 10);
  }
  const unwanted = await explain(sign("hmac", { type: "user.made" }));
  assert.deepEqual([unwanted.outcome, unwanted.step, unwanted.event_type], ["filtered", "event_type", "user.made"]);
  const compact = JSON.stringify({ id: "d-1" });
  const signed = sign("hmac", { body: compact });
  const hints = (await explain({ ...signed, body: '{ "id": "d-1" }' })).hints;
  assert.deepEqual(hints, ["It would verify as compact JSON: the body was serialized again."]);
  const came = new Date(Date.now() - 3_600_000).toISOString();
  assert.equal((await explain(old, { received_at: came })).outcome, "accepted", "judged by the time at which it came");
  assert.deepEqual(await receivedOf(who, source), [], "nothing of it is received");
  assert.deepEqual((await ingest.send(who, "GET", `${pathOf(source)}/rejections`)).body.items, []);
  const twice = { headers: {}, body: "a", body_base64: "YQ==" };
  assert.equal((await ingest.send(who, "POST", `${pathOf(source)}/verify`, { body: twice })).status, 422);
  assert.equal(
    (await ingest.send(testPerson(), "POST", `${pathOf(source)}/verify`, { body: { headers: {} } })).status,
    404,
  );
});

test("a webhook signed with an ended secret gets that hint", async () => {
  const who = testPerson();
  const source = await ingest.newSource(who, { scheme: "hmac", secret: "the former secret of the shop" });
  const body = { secret: secrets.hmac, overlap_seconds: 3_600 };
  assert.equal((await ingest.send(who, "POST", `${pathOf(source)}/secret/rotate`, { body })).status, 200);
  const time = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", "the former secret of the shop").update(`${time}.{}`).digest("hex");
  const headers = { "x-timestamp": time, "x-signature": `sha256=${signature}`, "content-type": "application/json" };
  const explain = async (received_at?: string) => {
    const pasted = { headers, body: "{}", ...(received_at && { received_at }) };
    return (await ingest.send(who, "POST", `${pathOf(source)}/verify`, { body: pasted })).body;
  };
  assert.equal((await explain()).outcome, "accepted");
  const later = await explain(new Date(Date.now() + 7_200_000).toISOString());
  assert.deepEqual(
    [later.reason, later.hints],
    ["signature_mismatch", ["It is signed with a secret whose overlap has ended."]],
  );
});
