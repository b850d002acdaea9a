import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { EventData } from "@signalbox/contracts";
import { createManualClock, hours, seconds } from "@signalbox/core";
import { readFixture, type TestPerson, testPerson } from "@signalbox/testing";
import { type Harness, startImages } from "./harness.ts";

const clock = createManualClock();
let images: Harness;
before(async () => {
  images = await startImages({}, { clock });
});
after(() => images.close());

const owner = (): TestPerson => testPerson({ scopes: ["images:read", "images:write", "account:security"] });
const uploaded = async (who: TestPerson) => (await images.upload(who, await readFixture("photo.jpg"))).body;
const pathOf = (url: string) => url.replace(/^https?:\/\/[^/]+/, "");
const get = (url: string, headers: Record<string, string> = {}) => images.send(null, "GET", pathOf(url), { headers });
async function signed(who: TestPerson, id: string, body: object = {}): Promise<{ url: string; expires_at: string }> {
  const answer = await images.send(who, "POST", `/images/${id}/signed-urls`, {
    body: { width: 120, format: "webp", expires_in_seconds: 3600, ...body },
  });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body;
}

test("a signed URL shows a private image in its form to everyone until it expires", async () => {
  const who = owner();
  const { id } = await uploaded(who);
  const { url, expires_at } = await signed(who, id);
  const { status, headers } = await get(url);
  assert.deepEqual([status, headers.get("content-type"), headers.get("vary")], [200, "image/webp", null]);
  const left = Math.floor((Date.parse(expires_at) - clock.nowMs()) / 1000);
  assert.ok(left >= 3600 && left <= 4500);
  assert.equal(headers.get("cache-control"), `public, max-age=${left}`);
  assert.equal(headers.get("referrer-policy"), "no-referrer");
  assert.equal((await signed(who, id)).url, url, "within its window it is the same URL");
  assert.equal((await get(url, { "if-none-match": headers.get("etag") ?? "" })).status, 304);
  const head = await images.send(null, "HEAD", pathOf(url));
  assert.equal(head.status, 200);
});

test("parameters that a network adds to a link change nothing about its content", async () => {
  const who = owner();
  const { id } = await uploaded(who);
  const { url } = await signed(who, id);
  const [plain, tracked] = [await get(url), await get(`${url}&utm_source=mail&fbclid=a%2Cb`)];
  assert.deepEqual([tracked.status, tracked.headers.get("etag")], [200, plain.headers.get("etag")]);
  assert.equal((await get(`${url}&utm=mail`)).status, 400);
});

test("a signed URL grants exactly its parameters, on its image, by its method, until it expires", async () => {
  const who = owner();
  const [{ id }, other] = [await uploaded(who), await uploaded(who)];
  const { url } = await signed(who, id);
  const [path = "", query = ""] = pathOf(url).split("?");
  const pairs = query.split("&");
  assert.equal((await get(`${path}?${[...pairs].reverse().join("&")}`)).status, 200, "in any order");
  const refused = [
    url.replace("width=120", "width=121"),
    url.replace("&width=120", ""),
    `${url}&height=10`,
    `${url}&quality=100`,
    url.replace("format=webp", "format=png"),
    url.replace(id, other.id),
    url.replace(id, "img_nothing"),
    url.replace(/signature=.*/, "signature=v1"),
    url.replace(/signature=v1\.[^.]+/, "signature=v1.key_other"),
  ];
  for (const wrong of refused) {
    const { status, body } = await get(wrong);
    assert.deepEqual([status, body.error?.code], [403, "forbidden"], wrong);
    assert.ok(!JSON.stringify(body).includes("v1."), "the signature is not repeated");
  }
  for (const method of ["POST", "DELETE", "PUT"])
    assert.equal((await images.send(null, method, pathOf(url))).status, 405, method);
  assert.equal((await get(url.replace("/content", "/original"))).status, 401);
  assert.equal((await images.send(testPerson(), "GET", `${pathOf(url)}1`)).status, 403, "credentials do not help");
  clock.advance(hours(1) + hours(1));
  assert.equal((await get(url)).status, 403);
  assert.equal((await get((await signed(who, id)).url)).status, 200);
});

test("the URLs of a key stay valid until the rotation after the next", async () => {
  const who = owner();
  const { id } = await uploaded(who);
  const rotate = () => images.send(who, "POST", "/images/signing-keys/rotate");
  const first = (await signed(who, id)).url;
  const { status, body } = await rotate();
  assert.equal(status, 201);
  assert.ok(first.includes(`v1.${body.secrets[1].id}.`));
  const second = (await signed(who, id)).url;
  assert.ok(second.includes(`v1.${body.id}.`));
  assert.deepEqual([(await get(first)).status, (await get(second)).status], [200, 200]);
  await rotate();
  clock.advance(seconds(2));
  assert.deepEqual([(await get(first)).status, (await get(second)).status], [403, 200]);
  const entries = (await images.auditOf(who.accountId, 5)) as unknown as { data: { action: string } }[];
  assert.equal(entries.filter(({ data }) => data.action === "image.rotate_signing_key").length, 2);
});

test("a rotation ends the URLs of every older key when its overlap ends", async () => {
  const who = owner();
  const { id } = await uploaded(who);
  const rotate = (overlap_seconds: number) =>
    images.send(who, "POST", "/images/signing-keys/rotate", { body: { overlap_seconds } });
  const first = (await signed(who, id)).url;
  assert.equal((await rotate(600)).status, 201);
  const second = (await signed(who, id)).url;
  clock.advance(seconds(599));
  assert.deepEqual([(await get(first)).status, (await get(second)).status], [200, 200]);
  clock.advance(seconds(1));
  assert.deepEqual([(await get(first)).status, (await get(second)).status], [403, 200]);
  await rotate(0);
  clock.advance(seconds(2));
  assert.equal((await get(second)).status, 403);
  assert.equal((await get((await signed(who, id)).url)).status, 200);
});

test("each signed URL leaves an audit entry with its credential, by both edges", async () => {
  const who = owner();
  const { id } = await uploaded(who);
  await signed(who, id);
  await images.send(who, "POST", `/images/${id}/signed-urls`, { body: { expires_in_seconds: 1 } });
  const mutation = `mutation { createSignedImageUrl(id: "${id}", input: { expiresInSeconds: 60 }) { url } }`;
  assert.ok((await images.graphql(who, mutation)).data.createSignedImageUrl.url);
  // The first entry is that of the upload.
  const entries = (await images.auditOf(who.accountId, 3)).map(({ data }) => data as EventData<"audit.recorded">);
  assert.deepEqual(
    entries.map(({ action, subject, actor }) => [action, subject, actor.credential]),
    ["image.create", "image.sign_url", "image.sign_url"].map((action) => [action, id, who.principal.credential.id]),
  );
});

test("a deleted image is 404 by its signed URL too", async () => {
  const who = owner();
  const { id } = await uploaded(who);
  const { url } = await signed(who, id);
  assert.equal((await get(url)).status, 200);
  assert.equal((await images.send(who, "DELETE", `/images/${id}`)).status, 204);
  assert.equal((await get(url)).status, 404);
});

test("only the owner signs, with parameters that the content accepts", async () => {
  const who = owner();
  const { id } = await uploaded(who);
  const ask = (person: TestPerson | null, body: object) =>
    images.send(person, "POST", `/images/${id}/signed-urls`, { body });
  const plain = { expires_in_seconds: 60 };
  assert.equal((await ask(null, plain)).status, 401);
  assert.equal((await ask(testPerson(), plain)).status, 404);
  assert.equal((await ask(testPerson({ scopes: ["images:read"] }), plain)).status, 403);
  for (const [member, value] of Object.entries({
    width: 4097,
    dpr: 5,
    fit: "crop",
    gravity: "face",
    background: "red",
    quality: 0,
    format: "bmp",
    metadata: "all",
    expires_in_seconds: 604_801,
    unknown: 1,
  }))
    assert.equal((await ask(who, { ...plain, [member]: value })).status, 422, member);
  assert.equal((await ask(who, { ...plain, width: 3000, dpr: 2 })).status, 422);
  for (const body of [
    { ...plain, dpr: 1.5, width: 99, height: 50, fit: "cover", gravity: "attention", quality: "auto" },
    { ...plain, enlarge: true, background: "A0b1C2", metadata: "copyright" },
    { ...plain, format: "jpg" },
  ]) {
    const { status, body: answer } = await ask(who, body);
    assert.equal(status, 201);
    assert.equal((await get(answer.url, { accept: "image/webp" })).status, 200, answer.url);
  }
});

test("many URLs are signed at once, of other images of the account too, with one audit entry", async () => {
  const who = owner();
  const [{ id }, other, foreign] = [await uploaded(who), await uploaded(who), await uploaded(owner())];
  const items = [{ width: 40 }, { id: other.id, width: 50, format: "png" }, { id: foreign.id }];
  const body = { items, expires_in_seconds: 600 };
  const { status, body: answer } = await images.send(who, "POST", `/images/${id}/signed-urls`, { body });
  assert.equal(status, 201);
  const [own, ofOther, missing] = answer.items;
  assert.deepEqual([own.outcome, ofOther.outcome, missing], ["signed", "signed", { outcome: "missing", url: null }]);
  assert.ok(own.url.includes(id) && ofOther.url.includes(other.id));
  for (const { url } of [own, ofOther]) assert.equal((await get(url)).status, 200);
  const entries = (await images.auditOf(who.accountId, 3)).map(({ data }) => data as EventData<"audit.recorded">);
  const signings = entries.filter(({ action }) => action === "image.sign_url");
  assert.deepEqual(
    signings.map(({ subject, fields, reason }) => [subject, fields, reason]),
    [[id, [], other.id]],
  );
});

test("five hundred forms are signed in one request", async () => {
  const who = owner();
  const { id } = await uploaded(who);
  const items = Array.from({ length: 501 }, (_, index) => ({ width: index + 1 }));
  const ask = (body: object) =>
    images.send(who, "POST", `/images/${id}/signed-urls`, { body: { ...body, expires_in_seconds: 60 } });
  const { body } = await ask({ items: items.slice(1) });
  assert.equal(new Set(body.items.map(({ url }: { url: string }) => url)).size, 500);
  for (const wrong of [{ items }, { items: [] }, { items: [{ width: 5, dpr: 9 }] }, { items: [{}], width: 5 }])
    assert.equal((await ask(wrong)).status, 422, JSON.stringify(wrong).slice(0, 60));
});

test("the graph signs many forms with their outcomes", async () => {
  const who = owner();
  const { id } = await uploaded(who);
  const mutation = `mutation ($id: ID!, $input: SignedImageUrlInput!) {
    createSignedImageUrl(id: $id, input: $input) { url expiresAt items { outcome url } } }`;
  const input = { items: [{ width: 30 }, { id: "img_none" }], expiresInSeconds: 60 };
  const { url, expiresAt, items } = (await images.graphql(who, mutation, { id, input })).data.createSignedImageUrl;
  assert.deepEqual([url, items[1]], [null, { outcome: "missing", url: null }]);
  assert.ok(Date.parse(expiresAt) > clock.nowMs());
  assert.equal((await get(items[0].url)).status, 200);
});

test("a list has signed variants on request, with one audit entry", async () => {
  const who = owner();
  const ids = [(await uploaded(who)).id, (await uploaded(who)).id];
  const plain = await images.send(who, "GET", "/images");
  assert.ok(!JSON.stringify(plain.body).includes("signature"));
  const { body } = await images.send(who, "GET", "/images?sign=3600");
  for (const { variants, url } of body.items) {
    for (const variant of Object.values<string>(variants)) assert.equal((await get(variant)).status, 200, variant);
    assert.equal((await get(url)).status, 401);
  }
  const query = `query ($of: [_Any!]!) { _entities(representations: $of) { ... on Account {
    images(sign: 3600) { edges { node { variants { name url } } } } } } }`;
  const { data } = await images.graphql(who, query, { of: [{ __typename: "Account", id: who.accountId }] });
  const [edge] = data._entities[0].images.edges;
  assert.equal((await get(edge.node.variants[0].url)).status, 200);
  const entries = (await images.auditOf(who.accountId, 4)).map(({ data }) => data as EventData<"audit.recorded">);
  const signings = entries.filter(({ action }) => action === "image.sign_url");
  assert.deepEqual(
    signings.map(({ subject, reason }) => [subject, reason].sort()),
    [ids.toSorted(), ids.toSorted()],
  );
});

test("a list is signed only for callers who may sign", async () => {
  const who = owner();
  await uploaded(who);
  const reader = testPerson({ accountId: who.accountId, scopes: ["images:read"] });
  assert.equal((await images.send(reader, "GET", "/images")).status, 200);
  assert.equal((await images.send(reader, "GET", "/images?sign=3600")).status, 403);
  for (const sign of ["59", "604801", "an hour", ""])
    assert.equal((await images.send(who, "GET", `/images?sign=${sign}`)).status, 400, sign);
});

test("a crop without an area is refused by its name, where it is signed as where it is read", async () => {
  const who = owner();
  const { id } = await uploaded(who);
  for (const crop of ["0,0,0,5", "0,0,5,0", "0,0,5", "0,0,5,5,5", "-1,0,5,5", "0,0,05,5"]) {
    const body = { crop, expires_in_seconds: 60 };
    const signing = await images.send(who, "POST", `/images/${id}/signed-urls`, { body });
    const reading = await images.send(who, "GET", `/images/${id}/content?crop=${crop}`);
    assert.deepEqual([signing.status, reading.status], [422, 400], crop);
    assert.deepEqual([signing.body.error.details[0].field, reading.body.error.details[0].field], ["crop", "crop"]);
  }
});

test("no signature that GraphQL makes is in a log", async () => {
  const who = owner();
  const { id } = await uploaded(who);
  const query = `mutation ($id: ID!, $input: SignedImageUrlInput!) {
    createSignedImageUrl(id: $id, input: $input) { url expiresAt errors { field code } } }`;
  const input = { width: 80, format: "webp", expiresInSeconds: 600 };
  const { data } = await images.graphql(who, query, { id, input });
  assert.deepEqual(data.createSignedImageUrl.errors, []);
  const { url } = data.createSignedImageUrl;
  assert.equal((await get(url)).status, 200);
  assert.equal((await get(`${url}1`)).status, 403);
  const refused = await images.graphql(who, query, { id, input: { ...input, width: 0 } });
  assert.deepEqual(
    [refused.data.createSignedImageUrl.url, refused.data.createSignedImageUrl.errors[0]?.field],
    [null, "width"],
  );
  const text = /signature=(v1[^&]*)/.exec(url)?.[1] ?? "";
  assert.ok(text.length > 50);
  assert.ok(!JSON.stringify(images.context.logged).includes(text));
});
