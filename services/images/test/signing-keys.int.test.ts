import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { draft, type EventData, eventOf } from "@signalbox/contracts";
import { createManualClock, seconds } from "@signalbox/core";
import { sql } from "@signalbox/storage";
import { eventually, readFixture, type TestPerson, testPerson } from "@signalbox/testing";
import { type Harness, startImages } from "./harness.ts";

interface Key {
  readonly id: string;
  readonly secret: string;
}
type SignImageUrl = (base: string, imageId: string, parameters: object, expiry: number, key: Key) => string;

const clock = createManualClock();
let images: Harness;
let signImageUrl: SignImageUrl;
before(async () => {
  images = await startImages({}, { clock });
  const page = await readFile(new URL("../../../docs/how-to/sign-image-urls.md", import.meta.url), "utf8");
  const [, code = ""] = /```js\n([\s\S]*?)```/.exec(page) ?? [];
  ({ signImageUrl } = await import(`data:text/javascript,${encodeURIComponent(code)}`));
});
after(() => images.close());

const keys = "/images/signing-keys";
const owner = (): TestPerson => testPerson({ scopes: ["images:read", "images:write"] });
const uploaded = async (who: TestPerson) => (await images.upload(who, await readFixture("photo.jpg"))).body;
const statusOf = async (url: string) => (await images.send(null, "GET", url)).status;
async function created(who: TestPerson): Promise<Key> {
  const { status, body } = await images.send(who, "POST", keys);
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}
const rotated = (who: TestPerson, { id }: Key, overlap_seconds?: number) =>
  images.send(who, "POST", `${keys}/${id}/rotate`, { body: { overlap_seconds } });
const listed = async (who: TestPerson) => (await images.send(who, "GET", keys)).body.items;

/** Signs as an owner's server does. */
const urlOf = (key: Key, id: string, livesSeconds = 3_600, form: object = { width: 60, format: "webp" }) =>
  signImageUrl("", id, form, Math.floor(clock.nowMs() / 1000) + livesSeconds, key);

test("a URL that its owner's server signs shows a private image until it expires", async () => {
  const who = owner();
  const { id } = await uploaded(who);
  const url = urlOf(await created(who), id);
  assert.equal(await statusOf(url), 200);
  assert.deepEqual([await statusOf(`${url}&utm_source=mail`), await statusOf(`${url}&height=9`)], [200, 403]);
  clock.advance(seconds(3_600));
  assert.equal(await statusOf(url), 403);
});

test("an owner's URL that expires more than eight days from now is refused with this reason", async () => {
  const who = owner();
  const { id } = await uploaded(who);
  const key = await created(who);
  const longest = 8 * 24 * 3_600;
  assert.equal(await statusOf(urlOf(key, id, longest)), 200);
  const { status, body } = await images.send(null, "GET", urlOf(key, id, longest + 1));
  assert.deepEqual([status, body.error.code], [403, "forbidden"]);
  assert.match(body.error.message, /expires more than eight days from now/);
});

test("an owner's key opens no image of another account", async () => {
  const [who, other] = [owner(), owner()];
  const [{ id }, key] = [await uploaded(other), await created(who)];
  assert.equal(await statusOf(urlOf(key, id)), 404);
});

test("an account holds two keys of its own", async () => {
  const who = owner();
  const made = [await created(who), await created(who)];
  const third = await images.send(who, "POST", keys);
  const [detail] = third.body.error.details;
  assert.deepEqual([third.status, detail.field, detail.code], [409, "signing_keys", "too_many"]);
  await images.send(who, "DELETE", `${keys}/${made[0]?.id}`);
  await created(who);
});

test("the list shows every valid key without its secret", async () => {
  const who = owner();
  const { id } = await uploaded(who);
  assert.deepEqual(await listed(who), []);
  await images.send(who, "POST", `/images/${id}/signed-urls`, { body: { expires_in_seconds: 60 } });
  const key = await created(who);
  const shown = await listed(who);
  assert.deepEqual(
    shown.map(({ kind }: { kind: string }) => kind),
    ["owner", "service"],
  );
  assert.deepEqual([shown[0].id, Object.keys(shown[0]).sort()], [key.id, ["created_at", "ends_at", "id", "kind"]]);
  assert.equal(Buffer.from(key.secret, "base64url").length, 32);
});

test("URLs of a rotated key end with the overlap", async () => {
  const who = owner();
  const { id } = await uploaded(who);
  const key = await created(who);
  const url = urlOf(key, id);
  const { status, body } = await rotated(who, key, 600);
  assert.equal(status, 201);
  assert.deepEqual([await statusOf(url), await statusOf(urlOf(body, id))], [200, 200]);
  clock.advance(seconds(600));
  assert.deepEqual([await statusOf(url), await statusOf(urlOf(body, id))], [403, 200]);
});

test("a rotation that would leave three keys is refused, unless its overlap is 0", async () => {
  const who = owner();
  const { id } = await uploaded(who);
  const [one, other] = [await created(who), await created(who)];
  const urls = [urlOf(one, id), urlOf(other, id)];
  assert.equal((await rotated(who, one)).status, 409);
  assert.equal((await rotated(who, one, 0)).status, 201);
  clock.advance(seconds(2));
  assert.deepEqual(await Promise.all(urls.map(statusOf)), [403, 200]);
});

test("an overlap of 0 ends the keys that were replaced before", async () => {
  const who = owner();
  const { id } = await uploaded(who);
  const first = await created(who);
  const { body: second } = await rotated(who, first);
  const { body: third } = await rotated(who, second, 0);
  clock.advance(seconds(2));
  const urls = [first, second, third].map((key) => urlOf(key, id));
  assert.deepEqual(await Promise.all(urls.map(statusOf)), [403, 403, 200]);
});

test("a deleted key ends its URLs, those that are cached too", async () => {
  const who = owner();
  const { id } = await uploaded(who);
  const key = await created(who);
  const url = urlOf(key, id);
  assert.deepEqual([await statusOf(url), await statusOf(url)], [200, 200]);
  assert.equal((await images.send(who, "DELETE", `${keys}/${key.id}`)).status, 204);
  clock.advance(seconds(2));
  assert.equal(await statusOf(url), 403);
});

test("a deleted key of the service is replaced at the next signature", async () => {
  const who = owner();
  const { id } = await uploaded(who);
  const sign = async () =>
    (
      await images.send(who, "POST", `/images/${id}/signed-urls`, { body: { expires_in_seconds: 60 } })
    ).body.url.replace(/^https?:\/\/[^/]+/, "");
  const before = await sign();
  const [{ id: keyId }] = await listed(who);
  await images.send(who, "DELETE", `${keys}/${keyId}`);
  clock.advance(seconds(2));
  assert.deepEqual([await statusOf(before), await statusOf(await sign())], [403, 200]);
});

test("a rotation of the service's key leaves the owner's keys as they are", async () => {
  const who = owner();
  const { id } = await uploaded(who);
  const url = urlOf(await created(who), id);
  await images.send(who, "POST", `${keys}/rotate`, { body: { overlap_seconds: 0 } });
  clock.advance(seconds(2));
  assert.equal(await statusOf(url), 200);
});

test("keys of another account are missing", async () => {
  const [who, other] = [owner(), owner()];
  const key = await created(other);
  assert.equal((await rotated(who, key)).status, 404);
  assert.equal((await images.send(who, "DELETE", `${keys}/${key.id}`)).status, 404);
});

test("keys need the scope that signs", async () => {
  const reader = testPerson({ scopes: ["images:read"] });
  for (const method of ["GET", "POST"]) assert.equal((await images.send(reader, method, keys)).status, 403, method);
  assert.equal((await images.send(null, "POST", keys)).status, 401);
});

test("each change of a key is in the audit under its id", async () => {
  const who = owner();
  const key = await created(who);
  const { body: next } = await rotated(who, key, 0);
  await images.send(who, "DELETE", `${keys}/${next.id}`);
  const entries = (await images.auditOf(who.accountId, 3)).map(({ data }) => data as EventData<"audit.recorded">);
  assert.deepEqual(
    entries.map(({ action, subject }) => [action, subject]),
    [
      ["image_signing_key.create", key.id],
      ["image_signing_key.rotate", next.id],
      ["image_signing_key.delete", next.id],
    ],
  );
});

test("the secret is encrypted where it is stored", async () => {
  const who = owner();
  const { id, secret } = await created(who);
  const stored = sql("", "select sealed_secret from signing_keys where id = $1");
  const { rows } = await images.pool.query<{ sealed_secret: string }>(stored, [id]);
  assert.match(rows[0]?.sealed_secret ?? "", /^v1\./);
  assert.ok(!rows[0]?.sealed_secret.includes(secret));
});

test("a purge of the account erases its keys", async () => {
  const who = owner();
  await created(who);
  const data = { ...eventOf("account.deleted").example, id: who.accountId };
  await images.publish(draft("account.deleted", { subject: who.accountId, accountId: who.accountId, data }));
  await eventually(async () => (await listed(who)).length === 0);
});
