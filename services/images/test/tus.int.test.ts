import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { createManualClock, hours } from "@signalbox/core";
import { eventually, readFixture, type TestPerson, testPerson } from "@signalbox/testing";
import { type DetailedError, Upload, type UploadOptions } from "tus-js-client";
import { type Harness, startImages } from "./harness.ts";

const origin = "https://app.example.com";
let images: Harness;
let clock: ReturnType<typeof createManualClock>;
let photo: Buffer;
before(async () => {
  clock = createManualClock(new Date());
  images = await startImages({ "images.cors.origins": origin }, { clock });
  photo = await readFixture("photo.jpg");
});
after(() => images.close());

const tus = { "tus-resumable": "1.0.0" };
const pieces = { ...tus, "content-type": "application/offset+octet-stream" };
const metadataOf = (fields: Record<string, string>) =>
  Object.entries(fields)
    .map(([name, value]) => `${name} ${Buffer.from(value).toString("base64")}`)
    .join(",");
const create = (who: TestPerson, headers: Record<string, string>) =>
  images.send(who, "POST", "/images/uploads", { headers: { ...tus, ...headers } });
const begin = async (who: TestPerson, file = photo, fields: Record<string, string> = { filename: "hills.jpg" }) => {
  const metadata = { "upload-metadata": metadataOf(fields) };
  const { status, headers } = await create(who, { "upload-length": String(file.length), ...metadata });
  assert.equal(status, 201);
  return String(headers.get("location"));
};
const patch = (who: TestPerson, path: string, offset: number, body: Buffer, headers: Record<string, string> = {}) =>
  images.send(who, "PATCH", path, { headers: { ...pieces, "upload-offset": String(offset), ...headers }, body });
const head = (who: TestPerson, path: string) => images.send(who, "HEAD", path, { headers: tus });
const offsetOf = async (who: TestPerson, path: string) => (await head(who, path)).headers.get("upload-offset");
const imagesOf = async (who: TestPerson) => (await images.send(who, "GET", "/images")).body.items;
const checksum = (algorithm: string, of: Buffer) => `${algorithm} ${createHash(algorithm).update(of).digest("base64")}`;

/** Uploads with tus-js-client. */
function upload(who: TestPerson, file: Buffer, options: Partial<UploadOptions> = {}) {
  const headers = who.headers as Record<string, string>;
  return new Promise<Upload>((resolve, reject) => {
    const started = new Upload(file, {
      endpoint: `${images.url}/images/uploads`,
      headers,
      chunkSize: 200_000,
      retryDelays: null,
      metadata: { filename: "hills.jpg", filetype: "image/jpeg" },
      onSuccess: () => resolve(started),
      onError: reject,
      ...options,
    });
    started.start();
  });
}

test("tus-js-client uploads in chunks, its metadata become fields of the image", async () => {
  const who = testPerson();
  let place: string | undefined;
  const done = await upload(who, photo, {
    metadata: {
      filename: "hills.jpg",
      filetype: "image/jpeg",
      title: "Höhen",
      tags: "sea,land",
      visibility: "public",
      relativePath: "null",
    },
    onAfterResponse: (_, answer) => {
      place = answer.getHeader("content-location") ?? place;
    },
  });
  const [image] = await imagesOf(who);
  const { filename, title, tags, visibility, size_bytes } = image;
  assert.deepEqual([filename, title, tags, visibility], ["hills.jpg", "Höhen", ["sea", "land"], "public"]);
  assert.deepEqual([size_bytes, place], [photo.length, `/images/${image.id}`]);
  const state = await images.send(who, "GET", new URL(String(done.url)).pathname);
  assert.deepEqual([state.body.status, state.body.image_id], ["completed", image.id]);
});

test("tus-js-client continues after an aborted connection", async () => {
  const who = testPerson();
  const path = await begin(who);
  const { hostname, port } = new URL(images.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `PATCH ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${who.headers.authorization}\r\ntus-resumable: 1.0.0\r\n` +
      `content-type: application/offset+octet-stream\r\nupload-offset: 0\r\ncontent-length: ${photo.length}\r\n\r\n`,
  );
  socket.write(photo.subarray(0, 200_000));
  await eventually(async () => (await offsetOf(who, path)) === "200000");
  socket.destroy();
  const sent: number[] = [];
  await upload(who, photo, {
    endpoint: null,
    uploadUrl: images.url + path,
    onProgress: (bytes) => sent.push(bytes),
  });
  assert.ok(sent.every((bytes) => bytes >= 200_000));
  assert.equal((await imagesOf(who))[0].sha256, createHash("sha256").update(photo).digest("hex"));
});

test("Uppy uploads a file", async () => {
  const who = testPerson();
  // Their types would bring those of a browser into this program.
  const [{ default: Core }, { default: Tus }] = await Promise.all(
    [import.meta.resolve("@uppy/core"), import.meta.resolve("@uppy/tus")].map((url) => import(url)),
  );
  const uppy = new Core().use(Tus, {
    endpoint: `${images.url}/images/uploads`,
    headers: who.headers as Record<string, string>,
    chunkSize: 200_000,
    // Pages hand over files, which tus-js-client reads in browsers alone.
    fileReader: {
      openFile: async (file: Blob) => ({
        size: file.size,
        close: () => {},
        async slice(from: number, to: number) {
          const bytes = Buffer.from(await file.slice(from, to).arrayBuffer());
          return { value: Object.assign(bytes, { size: bytes.length }), done: to >= file.size };
        },
      }),
    },
  });
  uppy.setMeta({ caption: "The hills" });
  uppy.addFile({ name: "hills.jpg", type: "image/jpeg", data: new Blob([new Uint8Array(photo)]) });
  const result = await uppy.upload();
  assert.deepEqual([result?.successful?.length, result?.failed], [1, []]);
  const [image] = await imagesOf(who);
  assert.deepEqual([image.filename, image.caption], ["hills.jpg", "The hills"]);
});

test("OPTIONS tells the offer without credentials", async () => {
  const { status, headers } = await images.send(null, "OPTIONS", "/images/uploads");
  assert.equal(status, 204);
  assert.deepEqual(
    ["version", "extension", "max-size", "checksum-algorithm"].map((name) => headers.get(`tus-${name}`)),
    ["1.0.0", "creation,expiration,checksum,termination", String(20 * 2 ** 20), "sha1,sha256"],
  );
});

test("another version is 412 with ours", async () => {
  const who = testPerson();
  const path = await begin(who);
  for (const [method, at] of [
    ["POST", "/images/uploads"],
    ["HEAD", path],
    ["PATCH", path],
    ["DELETE", path],
  ] as const) {
    const { status, headers } = await images.send(who, method, at, { headers: { "tus-resumable": "0.2.2" } });
    assert.deepEqual([status, headers.get("tus-version")], [412, "1.0.0"], method);
  }
  assert.equal(await offsetOf(who, path), "0");
});

test("a creation tells the place, the expiry, no offset beyond zero", async () => {
  const who = testPerson();
  const metadata = metadataOf({ filename: "hills.jpg" });
  const made = await create(who, { "upload-length": String(photo.length), "upload-metadata": metadata });
  assert.deepEqual([made.status, made.headers.get("tus-resumable")], [201, "1.0.0"]);
  assert.equal(Date.parse(made.headers.get("upload-expires") ?? "") > clock.now().getTime(), true);
  const { headers } = await head(who, String(made.headers.get("location")));
  assert.deepEqual(
    ["upload-offset", "upload-length", "upload-metadata", "cache-control", "tus-resumable"].map((name) =>
      headers.get(name),
    ),
    ["0", String(photo.length), metadata, "no-store", "1.0.0"],
  );
});

test("a creation is refused immediately: size, metadata, type, fields, bytes", async () => {
  const who = testPerson();
  const length = { "upload-length": "10" };
  const cases: [Record<string, string>, number, string][] = [
    [{}, 400, "upload-length"],
    [{ "upload-defer-length": "1" }, 400, "upload-length"],
    [{ "upload-length": "0" }, 422, "size_bytes"],
    [{ "upload-length": String(20 * 2 ** 20 + 1) }, 413, "size_bytes"],
    [{ ...length, "upload-metadata": "filename ,filename " }, 400, "upload-metadata"],
    [{ ...length, "upload-metadata": "filename ?" }, 400, "upload-metadata"],
    [{ ...length, "upload-metadata": metadataOf({ filetype: "image/svg+xml" }) }, 415, "mime_type"],
    [{ ...length, "upload-metadata": metadataOf({ visibility: "secret" }) }, 422, "visibility"],
  ];
  for (const [headers, status, field] of cases) {
    const answer = await create(who, headers);
    assert.deepEqual([answer.status, answer.body.error.details[0].field], [status, field], JSON.stringify(headers));
  }
  const withBytes = { headers: { ...pieces, ...length }, body: photo.subarray(0, 10) };
  assert.equal((await images.send(who, "POST", "/images/uploads", withBytes)).status, 400);
});

test("a chunk with another checksum is 460, which leaves nothing of it", async () => {
  const who = testPerson();
  const path = await begin(who);
  const piece = photo.subarray(0, 1_000);
  for (const algorithm of ["sha1", "sha256"]) {
    const refused = await patch(who, path, 0, piece, { "upload-checksum": checksum(algorithm, photo) });
    assert.deepEqual([refused.status, await offsetOf(who, path)], [460, "0"], algorithm);
  }
  assert.equal((await patch(who, path, 0, piece, { "upload-checksum": "crc32 AAAA" })).status, 400);
  assert.equal((await patch(who, path, 0, piece, { "upload-checksum": checksum("sha1", piece) })).status, 204);
  assert.equal(await offsetOf(who, path), "1000");
});

test("a wrong offset is 409, a wrong type 415, bytes beyond the length 413", async () => {
  const who = testPerson();
  const path = await begin(who, photo.subarray(0, 1_000));
  const piece = photo.subarray(0, 10);
  const elsewhere = await patch(who, path, 5, piece);
  assert.deepEqual([elsewhere.status, elsewhere.headers.get("upload-offset")], [409, "0"]);
  assert.equal((await patch(who, path, 0, piece, { "content-type": "image/jpeg" })).status, 415);
  assert.equal((await patch(who, path, 0, photo.subarray(0, 1_001))).status, 413);
  assert.equal(await offsetOf(who, path), "0");
});

test("tus-js-client terminates an upload, which is then missing", async () => {
  const who = testPerson();
  const path = await begin(who);
  await patch(who, path, 0, photo.subarray(0, 10));
  await Upload.terminate(images.url + path, { headers: who.headers as Record<string, string>, retryDelays: null });
  assert.deepEqual([(await head(who, path)).status, (await patch(who, path, 10, photo)).status], [404, 404]);
});

test("an expired upload is missing", async () => {
  const who = testPerson();
  const path = await begin(who);
  await patch(who, path, 0, photo.subarray(0, 10));
  clock.advance(hours(1));
  assert.deepEqual([(await head(who, path)).status, (await patch(who, path, 10, photo)).status], [404, 404]);
});

test("a refused file is refused by the last chunk, which stays open", async () => {
  const who = testPerson();
  const svg = await readFixture("drawing.svg");
  const broken = await readFixture("truncated.jpg");
  for (const [file, status, code] of [
    [svg, 415, "unsupported_media_type"],
    [broken, 422, "validation_error"],
  ] as const) {
    const error = await upload(who, file).then(
      () => null,
      (thrown: DetailedError) => thrown,
    );
    assert.equal(error?.originalResponse?.getStatus(), status);
    assert.equal(JSON.parse(error?.originalResponse?.getBody() ?? "{}").error.code, code);
    const path = new URL(error?.originalRequest?.getURL() ?? "").pathname;
    assert.equal(await offsetOf(who, path), String(file.length - 1), "no client takes it for an image");
    assert.equal((await patch(who, path, file.length - 1, file.subarray(-1))).status, status);
  }
  assert.deepEqual(await imagesOf(who), []);
});

test("a lost answer to the last chunk is found by HEAD", async () => {
  const who = testPerson();
  const path = await begin(who);
  assert.equal((await patch(who, path, 0, photo)).status, 204);
  assert.equal(await offsetOf(who, path), String(photo.length));
  await upload(who, photo, { endpoint: null, uploadUrl: images.url + path });
  const state = (await images.send(who, "GET", path)).body;
  assert.deepEqual([state.status, state.image_id], ["completed", (await imagesOf(who))[0].id]);
  const [repeated, head] = [await patch(who, path, 0, photo), await images.send(who, "HEAD", path)];
  assert.equal(repeated.status, 409);
  for (const { headers } of [repeated, head])
    assert.equal(headers.get("content-location"), `/images/${state.image_id}`);
});

test("of concurrent last chunks all find one image", async () => {
  const who = testPerson();
  const path = await begin(who);
  await patch(who, path, 0, photo.subarray(0, -1));
  const last = () => patch(who, path, photo.length - 1, photo.subarray(-1));
  const answers = await Promise.all([last(), last(), last()]);
  assert.ok(answers.every(({ status }) => status === 204 || status === 409));
  while ((await offsetOf(who, path)) !== String(photo.length)) await last();
  assert.equal((await imagesOf(who)).length, 1);
});

test("an image without room is created once there is some", async (t) => {
  const full = await startImages({ "images.quota.images": 1 });
  t.after(() => full.close());
  const who = testPerson();
  const { id } = (await full.upload(who, await readFixture("alpha.png"))).body;
  const headers = { ...tus, "upload-length": String(photo.length) };
  const path = String((await full.send(who, "POST", "/images/uploads", { headers })).headers.get("location"));
  const send = (offset: number) =>
    full.send(who, "PATCH", path, {
      headers: { ...pieces, "upload-offset": String(offset) },
      body: photo.subarray(offset),
    });
  assert.equal((await send(0)).status, 409);
  await full.send(who, "DELETE", `/images/${id}`);
  const there = await full.send(who, "HEAD", path, { headers: tus });
  assert.equal((await send(Number(there.headers.get("upload-offset")))).status, 204);
  assert.equal((await full.send(who, "GET", "/images")).body.items[0].filename, "image.jpg");
});

test("an upload is continued by the IETF draft", async () => {
  const who = testPerson();
  const path = await begin(who);
  await patch(who, path, 0, photo.subarray(0, 1_000));
  const rest = await images.send(who, "PATCH", path, {
    headers: { "content-type": "application/partial-upload", "upload-offset": "1000" },
    body: photo.subarray(1_000),
  });
  assert.deepEqual([rest.status, rest.headers.get("upload-complete")], [204, "?1"]);
  assert.equal(rest.headers.get("content-location"), `/images/${(await imagesOf(who))[0].id}`);
});

test("an announced upload takes chunks by tus", async () => {
  const who = testPerson();
  const body = { filename: "hills.jpg", mime_type: "image/jpeg", size_bytes: photo.length };
  const { id } = (await images.send(who, "POST", "/images/uploads", { headers: tus, body })).body;
  assert.equal((await patch(who, `/images/uploads/${id}`, 0, photo)).status, 204);
  assert.deepEqual(await imagesOf(who), [], "its client completes it");
  assert.equal((await images.send(who, "POST", `/images/uploads/${id}/complete`, { body: {} })).status, 201);
});

test("another account finds no upload", async () => {
  const [who, other] = [testPerson(), testPerson()];
  const path = await begin(who);
  const answers = [await head(other, path), await patch(other, path, 0, photo)];
  answers.push(await images.send(other, "DELETE", path, { headers: tus }));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [404, 404, 404],
  );
  const reader = testPerson({ scopes: ["images:read"] });
  assert.equal((await create(reader, { "upload-length": "10" })).status, 403);
});

test("a page of a listed origin may use the headers of tus", async () => {
  const who = testPerson();
  const path = await begin(who);
  const asked = await images.send(null, "OPTIONS", path, {
    headers: { origin, "access-control-request-method": "PATCH" },
  });
  for (const name of ["Tus-Resumable", "Upload-Offset", "Upload-Checksum", "Upload-Metadata", "Upload-Length"]) {
    assert.ok(asked.headers.get("access-control-allow-headers")?.split(", ").includes(name), name);
  }
  const { headers } = await patch(who, path, 0, photo, { origin });
  for (const name of ["Content-Location", "Upload-Offset", "Upload-Expires", "Tus-Resumable", "Location"]) {
    assert.ok(headers.get("access-control-expose-headers")?.split(", ").includes(name), name);
  }
});

test("tus is switched off with direct uploads", async (t) => {
  const off = await startImages({ "capabilities.imageDirectUpload": false });
  t.after(() => off.close());
  const headers = { ...tus, "upload-length": "10" };
  assert.equal((await off.send(testPerson(), "POST", "/images/uploads", { headers })).status, 403);
  assert.equal((await off.send(null, "OPTIONS", "/images/uploads")).headers.get("tus-version"), null);
});
