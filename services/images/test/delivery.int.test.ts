import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, readFixture, type TestAnswer, type TestPerson, testPerson } from "@signalbox/testing";
import { type Harness, startImages } from "./harness.ts";

let images: Harness;
before(async () => {
  images = await startImages({
    "images.public.requests": 40,
    "http.rate-limit.anonymous.requests": 5,
    "images.cors.origins": "https://app.example",
    "images.render.memory": 32 * 5_000,
  });
});
after(() => images.close());

const uploaded = async (who: TestPerson, visibility: "public" | "private") =>
  (await images.upload(who, await readFixture("photo.jpg"), { visibility }, 'Häfen"; x.tiff.jpg')).body;
const get = (who: TestPerson | null, url: string, headers: Record<string, string> = {}): Promise<TestAnswer> =>
  images.send(who, "GET", url.replace(/^https?:\/\/[^/]+/, ""), { headers });

test("only versioned URLs of public images are cached for a year", async () => {
  const who = testPerson();
  const [shown, hidden] = [await uploaded(who, "public"), await uploaded(who, "private")];
  const cacheOf = async (person: TestPerson | null, url: string) =>
    (await get(person, url)).headers.get("cache-control");
  for (const url of [shown.url, ...Object.values<string>(shown.variants)])
    assert.equal(await cacheOf(null, url), "public, max-age=31536000, immutable", url);
  assert.equal(await cacheOf(null, shown.url.replace(/v=.*/, "v=another")), "public, max-age=3600");
  assert.equal(await cacheOf(null, shown.url.replace(/\?.*/, "")), "public, max-age=3600");
  assert.equal(await cacheOf(who, hidden.url), "private, max-age=300");
  const { headers } = await get(null, shown.url);
  const unchanged = await get(null, shown.url, { "if-none-match": headers.get("etag") ?? "" });
  assert.equal(unchanged.status, 304);
  for (const name of ["cache-control", "vary", "surrogate-key", "access-control-allow-origin"])
    assert.equal(unchanged.headers.get(name), headers.get(name), name);
});

test("another focal point is another version, for which the named crops are made anew", async () => {
  const who = testPerson();
  const before = await uploaded(who, "public");
  const body = { focal_point: { x: 1, y: 0 } };
  const after = (await images.send(who, "PATCH", `/images/${before.id}`, { body })).body;
  assert.notEqual(after.variants.thumbnail, before.variants.thumbnail);
  const crops = [before, after].map(({ variants }) => get(null, variants.thumbnail));
  const [old, present] = await Promise.all(crops);
  assert.ok(old && present);
  assert.equal(old.headers.get("cache-control"), "public, max-age=3600", "the former address shows the present crop");
  assert.deepEqual([old.status, present.status], [200, 200]);
  assert.ok(old.bytes.equals(present.bytes));
  const jobs = (await images.eventsOf(who.accountId, 4)).filter(({ name }) => name === "image.render_requested");
  const points = jobs.map(({ data }) => (data as { focal_point: unknown }).focal_point);
  assert.deepEqual(points, [null, body.focal_point]);
  assert.equal(new Set(jobs.map(({ data }) => (data as { job_id: string }).job_id)).size, 2);
});

test("an answer tells caches what it varies by", async () => {
  const who = testPerson();
  const [shown, hidden] = [await uploaded(who, "public"), await uploaded(who, "private")];
  const varyOf = async (person: TestPerson | null, { id }: { id: string }, query: string) =>
    (await get(person, `/images/${id}/content?width=40${query}`)).headers.get("vary");
  assert.equal(await varyOf(null, shown, ""), "Accept");
  assert.equal(await varyOf(null, shown, "&format=webp"), null);
  assert.equal(await varyOf(who, hidden, ""), "Accept, Authorization, X-API-Key, Origin");
  assert.equal(await varyOf(who, hidden, "&format=webp"), "Authorization, X-API-Key, Origin");
  const { headers } = await get(null, shown.url);
  assert.equal(headers.get("surrogate-key"), `${shown.id} ${shown.account_id}`);
  assert.equal(headers.get("cache-tag"), `${shown.id},${shown.account_id}`);
});

test("every page may show a public image; only listed ones may upload", async () => {
  const who = testPerson();
  const [shown, hidden] = [await uploaded(who, "public"), await uploaded(who, "private")];
  const named = ["access-control-allow-origin", "cross-origin-resource-policy", "timing-allow-origin"];
  const of = ({ headers }: TestAnswer) => named.map((name) => headers.get(name));
  assert.deepEqual(of(await get(null, shown.url, { origin: "https://blog.example" })), ["*", "cross-origin", "*"]);
  assert.deepEqual(of(await get(who, hidden.url, { origin: "https://blog.example" })), [null, null, null]);
  const app = await get(who, hidden.url, { origin: "https://app.example" });
  assert.deepEqual(of(app), ["https://app.example", null, null]);
  const ask = (origin: string) =>
    images.send(null, "OPTIONS", "/images", { headers: { origin, "access-control-request-method": "POST" } });
  assert.equal((await ask("https://app.example")).headers.get("access-control-allow-origin"), "https://app.example");
  assert.equal((await ask("https://blog.example")).headers.get("access-control-allow-origin"), null);
});

test("ranges of originals or stored renditions are served, beyond the size 416", async () => {
  const who = testPerson();
  const { id, size_bytes: size } = await uploaded(who, "private");
  // The first fits into memory, the second is read from the store.
  for (const path of [`/images/${id}/content?width=40`, `/images/${id}/content?width=600`, `/images/${id}/original`]) {
    const whole = await get(who, path);
    const etag = whole.headers.get("etag") ?? "";
    assert.deepEqual([whole.status, whole.headers.get("accept-ranges")], [200, "bytes"], path);
    await eventually(async () => {
      const part = await get(who, path, { range: "bytes=100-299", "if-range": etag });
      assert.deepEqual([part.status, part.headers.get("content-range")], [206, `bytes 100-299/${whole.bytes.length}`]);
      assert.ok(part.bytes.equals(whole.bytes.subarray(100, 300)), path);
    });
    const last = await get(who, path, { range: "bytes=-7" });
    assert.ok(last.bytes.equals(whole.bytes.subarray(-7)));
    assert.equal((await get(who, path, { range: "bytes=0-1", "if-range": '"other"' })).status, 200);
    const beyond = await get(who, path, { range: `bytes=${whole.bytes.length}-` });
    assert.deepEqual([beyond.status, beyond.headers.get("content-range")], [416, `bytes */${whole.bytes.length}`]);
  }
  assert.equal((await get(who, `/images/${id}/original`)).bytes.length, size);
});

test("a saved file has a safe name with the extension of its format", async () => {
  const who = testPerson();
  const { id } = await uploaded(who, "private");
  await images.send(who, "PATCH", `/images/${id}`, { body: { filename: 'Häfen"; x.tiff' } });
  const { headers } = await get(who, `/images/${id}/content?width=40&format=webp`);
  assert.equal(
    headers.get("content-disposition"),
    "inline; filename=\"H_fen_; x.webp\"; filename*=UTF-8''H%C3%A4fen%22%3B%20x.webp",
  );
});

test("without credentials a private image is 401 like a missing one", async () => {
  const who = testPerson();
  const { id } = await uploaded(who, "private");
  const [hidden, unknown] = await Promise.all([id, "img_nothing"].map((one) => get(null, `/images/${one}/content`)));
  assert.deepEqual([hidden?.status, unknown?.status], [401, 401]);
  assert.ok(hidden?.headers.get("www-authenticate"));
  const without = ({ error: { request_id: _id, ...rest } }: { error: Record<string, unknown> }) => rest;
  assert.deepEqual(without(hidden?.body), without(unknown?.body));
  assert.equal((await get(testPerson(), `/images/${id}/content`)).status, 404);
});

test("a screen with more pixels gets more, up to 4096", async () => {
  const who = testPerson();
  const { id } = await uploaded(who, "private");
  const ask = (query: string) => get(who, `/images/${id}/content?format=webp&${query}`);
  const tagOf = async (query: string) => (await ask(query)).headers.get("etag");
  assert.equal(await tagOf("width=100&dpr=2.5"), await tagOf("width=250"));
  assert.equal(await tagOf("dpr=3"), await tagOf(""), "without a size there is nothing to multiply");
  assert.equal(await tagOf("width=90&quality=auto"), await tagOf("width=90&quality=70"));
  assert.equal(await tagOf("width=90&gravity=attention&background=ABCDEF"), await tagOf("width=90"));
  assert.notEqual(
    await tagOf("width=90&height=90&fit=cover&gravity=attention"),
    await tagOf("width=90&height=90&fit=cover"),
  );
  assert.notEqual(await tagOf("width=90&metadata=copyright"), await tagOf("width=90"));
  for (const [query, field] of [
    ["width=2049&dpr=2", "dpr"],
    ["width=100&dpr=0.5", "dpr"],
    ["width=100&dpr=4.001", "dpr"],
    ["quality=101", "quality"],
    ["quality=best", "quality"],
    ["gravity=face", "gravity"],
    ["background=red", "background"],
    ["metadata=all", "metadata"],
  ] as const) {
    const { status, body } = await ask(query);
    assert.deepEqual([status, body.error.details[0]?.field], [400, field], query);
  }
});

test("public content has a rate limit of its own, also for an address whose other limits are used up", async () => {
  const { url } = await uploaded(testPerson(), "public");
  assert.equal((await get(null, url)).status, 200);
  // At once: one after the other, a slow machine would give the allowance back meanwhile.
  const answers = await Promise.all(Array.from({ length: 60 }, () => get(null, url)));
  const countOf = (wanted: number) => answers.filter(({ status }) => status === wanted).length;
  assert.ok(countOf(200) > 5, "more than the anonymous allowance");
  assert.equal(countOf(200) + countOf(429), answers.length);
  assert.ok(countOf(429) > 0);
});
