import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { crc32, deflateSync } from "node:zlib";
import { sniffImage } from "@signalbox/imaging";
import { eventually, type FixtureName, readFixture, type TestPerson, testPerson } from "@signalbox/testing";
import { type Harness, startImages } from "./harness.ts";

let images: Harness;
before(async () => {
  images = await startImages({ "images.render.avif-pixels": 20_000 });
});
after(() => images.close());

const uploaded = async (who: TestPerson, name: FixtureName, fields: Record<string, string> = {}) =>
  (await images.upload(who, await readFixture(name), fields)).body;
const typeOf = (bytes: Buffer) => {
  const sniffed = sniffImage(bytes);
  return sniffed.kind === "unknown" ? null : sniffed.mimeType;
};

test("the negotiated format is listed in Vary with a validator of its own", async () => {
  const who = testPerson();
  const { id } = await uploaded(who, "photo.jpg");
  const path = `/images/${id}/content?width=320`;
  const accepts = { "image/webp": "image/webp", "*/*": "image/jpeg", "image/avif;q=0, image/png": "image/png" };
  const tags = new Set<string | null>();
  for (const [accept, type] of Object.entries(accepts)) {
    const { status, headers, bytes } = await images.send(who, "GET", path, { headers: { accept } });
    assert.deepEqual([status, headers.get("content-type"), typeOf(bytes)], [200, type, type], accept);
    assert.equal(Number(headers.get("content-length")), bytes.length);
    assert.match(headers.get("vary") ?? "", /Accept/);
    assert.match(headers.get("cache-control") ?? "", /private, max-age/);
    tags.add(headers.get("etag"));
  }
  assert.equal(tags.size, 3);
  assert.equal((await images.send(who, "GET", path, { headers: { accept: "text/html" } })).status, 406);
  const explicit = await images.send(who, "GET", `${path}&format=png`, { headers: { accept: "application/json" } });
  assert.equal(explicit.headers.get("content-type"), "image/png");
  assert.equal(
    (await images.send(who, "GET", `${path}&format=png`, { headers: { accept: "image/png;q=0" } })).status,
    406,
  );
});

test("`jpg` is the format `jpeg`", async () => {
  const who = testPerson();
  const { id } = await uploaded(who, "alpha.png");
  const shown = (format: string) => images.send(who, "GET", `/images/${id}/content?format=${format}`);
  const [short, long] = [await shown("jpg"), await shown("jpeg")];
  assert.deepEqual([short.status, typeOf(short.bytes)], [200, "image/jpeg"]);
  assert.equal(short.headers.get("etag"), long.headers.get("etag"));
});

test("a client's current copy is 304, before any rendition exists", async () => {
  const who = testPerson();
  const { id, sha256 } = await uploaded(who, "small.webp");
  const path = `/images/${id}/content?width=33`;
  const headers = { accept: "image/webp" };
  const first = await images.send(who, "GET", path, { headers });
  const etag = first.headers.get("etag") ?? "";
  const same = { ...headers, "if-none-match": `"other", W/${etag}` };
  const unchanged = await images.send(who, "GET", path, { headers: same });
  assert.deepEqual([unchanged.status, unchanged.bytes.length, unchanged.headers.get("etag")], [304, 0, etag]);
  assert.match(unchanged.headers.get("vary") ?? "", /Accept/);
  assert.ok(unchanged.headers.get("cache-control"));

  const [one, two] = [await uploaded(who, "small.webp"), `/images/${id}/content?width=34`];
  assert.equal(one.sha256, sha256);
  const any = await images.send(who, "GET", two, { headers: { ...headers, "if-none-match": "*" } });
  assert.equal(any.status, 304);
  assert.ok(!(await images.blobKeys()).some((key) => key.includes("/w34-")));
});

test("sizes are as requested within the bounds, never enlarged unless asked", async () => {
  const who = testPerson();
  const { id } = await uploaded(who, "alpha.png");
  const { width, height } = (await images.send(who, "GET", `/images/${id}`)).body;
  const sizeOf = async (query: string) => {
    const { bytes } = await images.send(who, "GET", `/images/${id}/content?format=png&${query}`);
    return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  };
  assert.deepEqual(await sizeOf("width=10&height=10&fit=cover"), [10, 10]);
  assert.deepEqual(await sizeOf("width=4000"), [width, height]);
  assert.deepEqual(await sizeOf(`width=${width * 2}&enlarge=true`), [width * 2, height * 2]);
  assert.deepEqual(await sizeOf("width=50&height=50&fit=contain"), [50, 50]);
  for (const query of [
    "width=0",
    "width=4097",
    "width=1.5",
    "fit=zoom",
    "quality=0",
    "quality=101",
    "format=tiff",
    "colour=1",
    "width=1&width=2",
  ]) {
    assert.equal((await images.send(who, "GET", `/images/${id}/content?${query}`)).status, 400, query);
  }
});

test("content is a re-encode: no hidden data of the file is served", async () => {
  const who = testPerson();
  for (const name of ["photo-rotated.jpg", "polyglot.jpg"] as const) {
    const original = await readFixture(name);
    const { id, width, height } = (await images.upload(who, original)).body;
    const { bytes } = await images.send(who, "GET", `/images/${id}/content`);
    assert.ok(!bytes.equals(original));
    for (const trace of ["Signalbox", "Fixture One", "<script", "PK\x03\x04", "%PDF"])
      assert.ok(!bytes.includes(trace), `${name} ${trace}`);
    if (name === "photo-rotated.jpg") assert.ok(height > width);
  }
});

test("the owner alone downloads the unchanged bytes, as an attachment", async () => {
  const who = testPerson();
  const original = await readFixture("small.tiff");
  const { id } = (await images.upload(who, original)).body;
  await images.send(who, "PATCH", `/images/${id}`, { body: { filename: 'ti"ff ü.tiff' } });
  const { status, headers, bytes } = await images.send(who, "GET", `/images/${id}/original`);
  assert.equal(status, 200);
  assert.ok(bytes.equals(original));
  assert.equal(
    headers.get("content-disposition"),
    `attachment; filename="ti_ff _.tiff"; filename*=UTF-8''ti%22ff%20%C3%BC.tiff`,
  );
  assert.match(headers.get("content-security-policy") ?? "", /sandbox/);
  assert.equal(headers.get("x-content-type-options"), "nosniff");
  const again = { headers: { "if-none-match": headers.get("etag") ?? "" } };
  assert.equal((await images.send(who, "GET", `/images/${id}/original`, again)).status, 304);
  const accepting = (accept: string) => images.send(who, "GET", `/images/${id}/original`, { headers: { accept } });
  assert.equal((await accepting("application/*;q=0.5, image/tiff")).status, 200);
  for (const accept of ["image/tiff", "application/octet-stream;q=0, */*"]) {
    const { status, body } = await accepting(accept);
    assert.deepEqual([status, body.error.code], [406, "not_acceptable"], accept);
  }
});

test("a private image needs its owner, a public one opens its content alone", async () => {
  const [owner, other] = [testPerson(), testPerson()];
  const { id } = await uploaded(owner, "one-pixel.png");
  const content = `/images/${id}/content`;
  assert.equal((await images.send(null, "GET", content)).status, 401);
  assert.equal((await images.send(other, "GET", content)).status, 404);
  assert.equal((await images.send(null, "GET", content, { headers: { authorization: "Bearer bad" } })).status, 401);
  await images.send(owner, "PATCH", `/images/${id}`, { body: { visibility: "public" } });
  for (const who of [null, other, owner]) {
    const { status, headers } = await images.send(who, "GET", content);
    assert.equal(status, 200);
    assert.match(headers.get("cache-control") ?? "", /^public, max-age=\d+$/);
  }
  for (const path of [`/images/${id}`, `/images/${id}/original`]) {
    assert.equal((await images.send(null, "GET", path)).status, 401, path);
    assert.equal((await images.send(other, "GET", path)).status, 404, path);
  }
  await images.send(owner, "PATCH", `/images/${id}`, { body: { visibility: "private" } });
  assert.equal((await images.send(null, "GET", content)).status, 401);
});

test("many callers of a missing rendition share one rendering, which later ones read from the store", async () => {
  const who = testPerson();
  const { id, sha256 } = await uploaded(who, "photo.jpg");
  const path = `/images/${id}/content?width=411&format=webp`;
  const answers = await Promise.all(Array.from({ length: 12 }, () => images.send(who, "GET", path)));
  const digests = new Set(answers.map(({ bytes }) => createHash("sha256").update(bytes).digest("hex")));
  assert.deepEqual([digests.size, answers[0]?.status], [1, 200]);
  const key = await eventually(
    async () =>
      (await images.blobKeys()).find((name) => name.startsWith(`renditions/${who.accountId}/${sha256}/w411-`)) ?? null,
  );
  assert.ok(key.endsWith(".webp"));
  const stored = await images.send(who, "GET", path);
  assert.ok(stored.bytes.equals(answers[0]?.bytes as Buffer));
});

test("AVIF that takes too long is made in the background: another format now, 503 when only AVIF is acceptable", async () => {
  const who = testPerson();
  const { id } = await uploaded(who, "photo.jpg");
  const path = `/images/${id}/content?width=640`;
  const instead = await images.send(who, "GET", path, { headers: { accept: "image/avif,image/webp,*/*;q=0.5" } });
  assert.equal(instead.headers.get("content-type"), "image/webp");
  assert.equal(instead.headers.get("rendition-pending"), "image/avif");
  const waiting = await images.send(who, "GET", path, { headers: { accept: "image/avif" } });
  assert.deepEqual([waiting.status, waiting.body.error.code], [503, "unavailable"]);
  assert.ok(Number(waiting.headers.get("retry-after")) > 0);
  const events = await images.eventsOf(who.accountId, 3);
  const jobs = events.filter(({ name }) => name === "image.render_requested");
  assert.equal(jobs.length, 2, "one for the named variants, one for the AVIF, however often it was wanted");
  const small = await images.send(who, "GET", `/images/${id}/content?width=100`, { headers: { accept: "image/avif" } });
  assert.deepEqual([small.status, typeOf(small.bytes)], [200, "image/avif"]);
  assert.equal(small.headers.get("rendition-pending"), null);
});

/** A PNG without a pixel of colour: 93 bytes that could become 250 megapixels. */
function strip(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const ends = [Buffer.alloc(4), Buffer.alloc(4)] as const;
    ends[0].writeUInt32BE(data.length);
    ends[1].writeUInt32BE(crc32(body));
    return Buffer.concat([ends[0], body, ends[1]]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const rows = deflateSync(Buffer.alloc((width + 1) * height));
  const start = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  return Buffer.concat([start, chunk("IHDR", header), chunk("IDAT", rows), chunk("IEND", Buffer.alloc(0))]);
}

test("a tiny image is enlarged to at most 4096 pixels on a side", async () => {
  const who = testPerson();
  const { id } = (await images.upload(who, strip(1, 15), { visibility: "public" })).body;
  const ask = (query: string) => images.send(null, "GET", `/images/${id}/content?format=png&${query}`);
  for (const query of ["width=4096&enlarge=true", "width=4096&height=4096&fit=outside&enlarge=true"]) {
    const { status, body } = await ask(query);
    assert.deepEqual([status, body.error.code, body.error.details[0].field], [400, "invalid_request", "enlarge"]);
    assert.match(body.error.message, /4096/);
  }
  assert.equal((await ask("width=200&enlarge=true")).status, 200);
  assert.equal((await ask("width=300&height=300&fit=cover&enlarge=true")).status, 200);
  assert.equal((await ask("width=4096")).status, 200, "without enlarging it stays as it is");
});

test("an image whose rendition takes too long is 503 while the worker makes it", async () => {
  const who = testPerson();
  const { id } = (await images.upload(who, strip(8000, 7000))).body;
  const { status, headers } = await images.send(who, "GET", `/images/${id}/content`);
  assert.deepEqual([status, Number(headers.get("retry-after")) > 0], [503, true]);
  const events = await images.eventsOf(who.accountId, 3);
  assert.equal(events.filter(({ name }) => name === "image.render_requested").length, 2);
  assert.equal((await images.send(who, "GET", `/images/${id}/content?width=100`)).status, 200);
});

test("on-demand renditions of an image are limited to 64 and to four times its bytes", async () => {
  const who = testPerson();
  const photo = await readFixture("photo.jpg");
  const { id, sha256 } = (await images.upload(who, photo)).body;
  const stored = async () =>
    (await images.blobKeys()).filter((key) => key.startsWith(`renditions/${who.accountId}/${sha256}/`));
  for (let round = 0; round < 13; round++) {
    const widths = Array.from({ length: 8 }, (_, index) => 20 + round * 8 + index);
    await Promise.all(
      widths.map((width) => images.send(who, "GET", `/images/${id}/content?width=${width}&format=png`)),
    );
  }
  await eventually(async () => {
    const count = (await stored()).length;
    return count <= 64 && count >= 48;
  });
  assert.equal((await images.send(who, "GET", `/images/${id}/content?width=20&format=png`)).status, 200);
});
