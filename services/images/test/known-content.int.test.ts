import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { after, before, mock, test } from "node:test";
import { draft } from "@signalbox/contracts";
import { createManualClock, hours } from "@signalbox/core";
import { sql } from "@signalbox/storage";
import { eventually, readFixture, type TestPerson, testPerson } from "@signalbox/testing";
import express from "express";
import { type Harness, startImages } from "./harness.ts";

const clock = createManualClock();
let images: Harness;
before(async () => {
  const limits = {
    "http.rate-limit.credential.requests": 100_000,
    "http.rate-limit.credential.burst": 100_000,
    "http.rate-limit.account.requests": 100_000,
    "images.public.requests": 100_000,
  };
  images = await startImages({ "http.cors.origins": ["https://app.example.com"], ...limits }, { clock });
});
after(() => images.close());

/** The way into the router: what is known is answered before it. */
const routed = mock.method(express.Router.prototype, "handle");

interface Raw {
  readonly status: number | undefined;
  /** As they were sent, in their order; the remainders of rate limits and the time are left out. */
  readonly headers: readonly string[];
  readonly bytes: Buffer;
  /** The remainder of each rate limit. */
  readonly remaining: readonly number[];
  readonly wasRouted: boolean;
}

async function get(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Raw> {
  const before = routed.mock.callCount();
  const sent = request(images.url + path, { method, headers: { "x-request-id": "known-content", ...headers } }).end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  const bytes = await buffer(answer);
  const lines = [];
  for (let at = 0; at < answer.rawHeaders.length; at += 2) {
    const [name = "", value] = answer.rawHeaders.slice(at, at + 2);
    if (name !== "Date" && name !== "RateLimit") lines.push(`${name}: ${value}`);
  }
  const remaining = [...String(answer.headers.ratelimit).matchAll(/r=(\d+)/g)].map((match) => Number(match[1]));
  const wasRouted = routed.mock.callCount() > before;
  return { status: answer.statusCode, headers: lines, bytes, remaining, wasRouted };
}

/** A length of 0 changes nothing about a GET, but sends it to the router. */
const byRouter = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  get(path, { ...headers, "content-length": "0" }, method);

async function uploaded(who: TestPerson, fields: Record<string, string> = {}) {
  const { body } = await images.upload(who, await readFixture("photo.jpg"), fields);
  return { id: body.id as string, content: `/images/${body.id}/content`, url: new URL(body.url) };
}

/** Sends requests until one is answered without the router: copies of records end within a second. */
async function known(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Raw> {
  return eventually(async () => {
    const answer = await get(path, headers, method);
    return answer.wasRouted ? null : answer;
  });
}

const callers = (who: TestPerson) => ({
  anonymous: {},
  owner: who.headers,
  "another account": testPerson().headers,
  "a key": { "x-api-key": testPerson({ accountId: who.accountId, kind: "api-key" }).token },
});

test("what is answered without the router equals the router's answer in every byte", async () => {
  const who = testPerson();
  const { content, url } = await uploaded(who, { visibility: "public" });
  const v = url.searchParams.get("v");
  const etag = (await get(`${content}?width=90`)).headers.find((line) => line.startsWith("ETag: "))?.slice(6) ?? "";
  assert.ok(etag);
  const forms = [
    `${content}?width=90`,
    `${content}?height=70&width=80&fit=cover`,
    `${content}?fit=cover&width=80&height=70`,
    `${content}?width=60&format=webp&quality=40`,
    `${content}?width=40&dpr=2&v=${v}`,
    `${content}/?width=90&v=former`,
  ];
  const asked: Record<string, string>[] = [
    {},
    { accept: "*/*" },
    { accept: "image/webp,image/*;q=0.5" },
    { accept: "image/png" },
    { "if-none-match": etag },
    { "if-none-match": `"other", W/${etag}` },
    { "if-none-match": "*", origin: "https://app.example.com" },
    { "if-none-match": '"other"', origin: "https://other.example.com" },
    { "if-modified-since": new Date().toUTCString(), prefer: "return=minimal" },
    { "x-forwarded-for": "192.0.2.9", "accept-encoding": "gzip" },
  ];
  for (const [caller, credential] of Object.entries(callers(who))) {
    for (const form of forms) {
      for (const headers of asked) {
        for (const method of ["GET", "HEAD"]) {
          const what = JSON.stringify([caller, form, headers, method]);
          const all = { ...credential, ...headers };
          // Its first caller does not wait until a rendition is stored, and is served from memory from then on.
          await byRouter(form, all, method);
          const quick = await known(form, all, method);
          const slow = await byRouter(form, all, method);
          assert.equal(slow.wasRouted, true, what);
          assert.deepEqual([quick.status, quick.headers], [slow.status, slow.headers], what);
          assert.ok(quick.bytes.equals(slow.bytes), what);
          assert.ok(quick.remaining.length > 0 && quick.remaining.length === slow.remaining.length, what);
        }
      }
    }
  }
});

test("what needs more than a cached answer is left to the router", async () => {
  const who = testPerson();
  const { content } = await uploaded(who);
  const form = `${content}?width=90`;
  await known(form, who.headers);
  const part = await get(form, { ...who.headers, range: "bytes=0-9" });
  assert.deepEqual([part.status, part.bytes.length, part.wasRouted], [206, 10, true]);
  const beyond = await get(form, { ...who.headers, range: "bytes=9999999-" });
  assert.deepEqual([beyond.status, beyond.wasRouted], [416, true]);
  assert.equal((await get(form, { ...who.headers, accept: "text/html" })).status, 406);
  assert.equal((await get(form)).status, 401);
  assert.equal((await get(form, testPerson().headers)).status, 404);
  assert.equal((await get(form, testPerson({ accountId: who.accountId, scopes: [] }).headers)).status, 403);
  assert.equal((await get(form, { authorization: "Bearer bad" })).status, 401);
  assert.equal((await get(`${form}&token=x`, who.headers)).status, 400);
  assert.equal((await get(form, { ...who.headers, "x-api-key": "two" })).status, 400);
});

test("a signed URL is known by its whole signature, until it expires or its key ends", async () => {
  const who = testPerson({ scopes: ["images:read", "images:write", "account:security"] });
  const { id } = await uploaded(who);
  const signed = async (width: number): Promise<string> => {
    const body = { width, expires_in_seconds: 3600 };
    const { pathname, search } = new URL(
      (await images.send(who, "POST", `/images/${id}/signed-urls`, { body })).body.url,
    );
    return pathname + search;
  };
  const url = await signed(70);
  for (const headers of [{}, testPerson().headers]) {
    const quick = await known(url, headers);
    const slow = await byRouter(url, headers);
    assert.deepEqual([quick.status, quick.headers], [slow.status, slow.headers]);
    assert.ok(quick.bytes.equals(slow.bytes));
  }
  const wrong = url.at(-2) === "A" ? "B" : "A";
  const forged = await get(`${url.slice(0, -2)}${wrong}${url.slice(-1)}`);
  assert.deepEqual([forged.status, forged.wasRouted], [403, true]);
  clock.advance(hours(2));
  assert.equal((await get(url)).status, 403, "expired");

  const next = await signed(71);
  await known(next);
  const rotated = await images.send(who, "POST", "/images/signing-keys/rotate", { body: { overlap_seconds: 0 } });
  assert.equal(rotated.status, 201);
  assert.equal((await get(next)).status, 403, "its key has ended");
});

test("a change or a deletion by this process is seen by the next request", async () => {
  const who = testPerson();
  const { id, content } = await uploaded(who, { visibility: "public" });
  const form = `${content}?width=50&height=60&fit=cover`;
  const before = await known(form);
  const focus = { focal_point: { x: 0.9, y: 0.9 } };
  assert.equal((await images.send(who, "PATCH", `/images/${id}`, { body: focus })).status, 200);
  const after = await get(form);
  assert.equal(after.status, 200);
  assert.notDeepEqual(after.headers, before.headers, "another crop");
  await known(form);
  await images.send(who, "PATCH", `/images/${id}`, { body: { visibility: "private" } });
  assert.equal((await get(form)).status, 401);
  assert.equal((await known(form, who.headers)).status, 200);
  assert.equal((await images.send(who, "DELETE", `/images/${id}`)).status, 204);
  assert.equal((await get(form, who.headers)).status, 404);
});

test("a change or a deletion by another instance is seen when the copy of the record ends", async () => {
  const who = testPerson();
  const [hidden, gone] = [await uploaded(who, { visibility: "public" }), await uploaded(who, { visibility: "public" })];
  await known(`${hidden.content}?width=90`);
  await known(`${gone.content}?width=90`);
  await images.pool.query(sql("test.hide", "update images set visibility = 'private' where id = $1"), [hidden.id]);
  await images.pool.query(sql("test.remove", "delete from images where id = $1"), [gone.id]);
  await eventually(async () => (await get(`${hidden.content}?width=90`)).status === 401);
  await eventually(async () => (await get(`${gone.content}?width=90`)).status === 401);
});

test("cached content ends with its account or credential", async () => {
  const who = testPerson();
  const { content } = await uploaded(who, { visibility: "public" });
  const form = `${content}?width=90`;
  const other = testPerson();
  await known(form, other.headers);
  const { id } = other.principal.credential;
  const changed_at = new Date().toISOString();
  const data = { kind: "token", id, account_id: other.accountId, state: "revoked", epoch: 1, changed_at } as const;
  await images.publish(draft("access.changed", { subject: `token:${id}`, accountId: other.accountId, data }));
  await eventually(async () => (await get(form, other.headers)).status === 401);

  await known(form);
  await images.changeState(who.accountId, "suspended");
  await eventually(async () => (await images.send(who, "DELETE", "/images/img_none")).status === 403);
  assert.equal((await known(form)).status, 200, "a suspended account's public images are shown");
  await images.changeState(who.accountId, "deleted");
  await eventually(async () => (await get(form)).status === 404);
  assert.equal((await get(form, testPerson().headers)).status, 404);
});
