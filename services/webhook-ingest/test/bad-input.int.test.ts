import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, test } from "node:test";
import { testPerson } from "@signalbox/testing";
import { type Harness, sourcesPath, startIngest } from "./harness.ts";
import { schemes, secrets, sign } from "./signing.ts";

let ingest: Harness;
before(async () => {
  ingest = await startIngest({
    "webhook-ingest.refusals.unknown-sources": 1_000_000,
    "webhook-ingest.refusals.failed-verifications": 1_000_000,
  });
});
after(() => ingest.close());

type Person = ReturnType<typeof testPerson>;
const create = (body: object, who: Person = testPerson()) =>
  ingest.send(who, "POST", sourcesPath, { body: { name: "Shop", ...body } });
const receivedOf = async (who: Person, { id }: { id: string }) =>
  (await ingest.send(who, "GET", `${sourcesPath}/${id}/received`)).body.items;

/** Posts headers in the order of the list, repeated ones too; returns the status. */
function postRaw(path: string, headers: readonly string[], body: string | Buffer): Promise<number> {
  const { port, host } = new URL(ingest.url);
  const own = ["host", host, "content-length", String(Buffer.byteLength(body))];
  return new Promise((resolve, reject) => {
    const sent = request({ port, path, method: "POST", headers: [...own, ...headers] }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

test("a secret of another scheme, a short or an empty one is 422 with the reason, wherever it is given", async () => {
  const right: Record<string, string> = { ...secrets, ed25519: "00".repeat(32), token: "a token of sixteen bytes" };
  const wrong: Record<string, readonly string[]> = {
    "standard-webhooks": [secrets.stripe, secrets.github, `whpk_${"A".repeat(8)}`, ""],
    ed25519: [secrets.hmac, secrets["standard-webhooks"], "00".repeat(31), ""],
  };
  const textual = ["", "fifteen bytes!!", " padded with spaces ", "with a\nline break in it", "x".repeat(513)];
  for (const scheme of Object.keys(right)) {
    const who = testPerson();
    const { body: source } = await create({ scheme, secret: right[scheme] }, who);
    const path = `${sourcesPath}/${source.id}`;
    for (const secret of wrong[scheme] ?? textual) {
      const answers = [
        await create({ scheme, secret }),
        await ingest.send(who, "PATCH", path, { body: { secret } }),
        await ingest.send(who, "POST", `${path}/secret/rotate`, { body: { secret } }),
      ];
      for (const { status, body } of answers) {
        const { field, message } = body.error.details[0];
        assert.deepEqual([status, field], [422, "secret"], `${scheme}: ${JSON.stringify(secret)}`);
        assert.ok(message.length > 10 && (secret === "" || !message.includes(secret)), message);
      }
    }
  }
});

type Kept = Readonly<Record<"delivery_id" | "event_type", string>>;

test("an impossible address is answered like an unknown one", async () => {
  const webhook = sign("hmac");
  const answerAt = async (path: string) => {
    const { status, body } = await ingest.post({ ingest_path: path }, webhook);
    return [status, body.error.code, body.error.message];
  };
  const unknown = await answerAt("/ingest/src_0000000000000000000000");
  assert.equal(unknown[0], 404);
  for (const id of [
    "x",
    "src_",
    "x".repeat(513),
    "%00",
    "src_%00",
    "%2e%2e%2f",
    "a%2fb",
    "%f0%9f%98%80",
    "ing_x",
    "'--",
  ]) {
    assert.deepEqual(await answerAt(`/ingest/${id}`), unknown, id);
  }
  assert.equal((await ingest.post({ ingest_path: "/ingest/%ff" }, webhook)).status, 400);
  assert.equal((await ingest.post({ ingest_path: "/ingest/%ed%a0%80" }, webhook)).status, 400);
});

for (const scheme of schemes) {
  test(`${scheme}: every header doubled, with its own value or another, has one effect at most and no failure`, async () => {
    const who = testPerson();
    const { body: source } = await create({ scheme, secret: secrets[scheme] }, who);
    const { headers, body } = sign(scheme, { id: "d-1" });
    const flat = Object.entries(headers).flat();
    for (const [name, value] of Object.entries(headers)) {
      for (const other of [value, "another", ""]) {
        for (const doubled of [
          [...flat, name, other],
          [name, other, ...flat],
        ]) {
          const status = await postRaw(source.ingest_path, doubled, body);
          assert.ok([202, 400, 401, 415].includes(status), `${name} and ${other}: ${status}`);
        }
      }
    }
    assert.equal(await postRaw(source.ingest_path, flat, body), 202);
    const kept = await receivedOf(who, source);
    // A header that nobody signs may name another topic, and for Shopify another event.
    const topics = new Set(kept.map((one: Kept) => `${one.event_type} ${scheme === "shopify" ? one.delivery_id : ""}`));
    const isOpen = scheme === "github" || scheme === "shopify";
    assert.equal(kept.length, isOpen ? topics.size : 1, "another unsigned id makes no other delivery");
  });
}
