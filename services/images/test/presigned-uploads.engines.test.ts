import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { createManualClock, hours, minutes } from "@signalbox/core";
import { openObjectStore } from "@signalbox/storage";
import { eventually, readFixture, type TestPerson, testPerson, testS3 } from "@signalbox/testing";
import { type Harness, startImages } from "./harness.ts";

let images: Harness;
let objects: Awaited<ReturnType<typeof openObjectStore>>;
let photo: Buffer;
const clock = createManualClock(new Date());
before(async () => {
  const { url, accessKey, secretKey } = await testS3();
  const blobs = { "blobs.url": url, "blobs.access-key": accessKey, "blobs.secret-key": secretKey };
  images = await startImages(blobs, { clock });
  objects = await openObjectStore({ ...images.context, url, accessKey, secretKey });
  photo = await readFixture("photo.jpg");
});
after(() => images.close());

const sha256Of = (file: Buffer) => createHash("sha256").update(file).digest("hex");
const begin = async (who: TestPerson, more: object = {}) => {
  const body = { filename: "hills.jpg", mime_type: "image/jpeg", size_bytes: photo.length, ...more };
  return (await images.send(who, "POST", "/images/uploads", { body })).body;
};
/** Sends the bytes like a client that knows only the upload's instructions. */
const put = async ({ url, method, headers }: Awaited<ReturnType<typeof begin>>, file: Buffer, more: object = {}) =>
  (await fetch(url, { method, headers: { ...headers, ...more }, body: new Uint8Array(file) })).status;
const complete = (who: TestPerson, id: string, body: object = {}) =>
  images.send(who, "POST", `/images/uploads/${id}/complete`, { body });
const bytesOf = ({ accountId }: TestPerson, { id }: { id: string }) => objects.head(`uploads/${accountId}/${id}`);

test("a file that was put directly into the store becomes an image", async () => {
  const who = testPerson();
  const upload = await begin(who, { sha256: sha256Of(photo) });
  assert.equal(upload.method, "PUT");
  assert.equal((await complete(who, upload.id)).status, 409, "nothing has arrived");
  assert.equal(await put(upload, photo), 200);
  const { body: state } = await images.send(who, "GET", `/images/uploads/${upload.id}`);
  assert.deepEqual([state.status, state.received_bytes], ["open", photo.length]);
  const { status, body } = await complete(who, upload.id, { title: "Hills" });
  assert.deepEqual([status, body.title, body.sha256], [201, "Hills", sha256Of(photo)]);
  assert.ok((await images.send(who, "GET", `/images/${body.id}/original`)).bytes.equals(photo));
  await eventually(async () => (await bytesOf(who, upload)) === null);
});

test("tus is refused where the store takes the bytes", async () => {
  const headers = { "tus-resumable": "1.0.0", "upload-length": String(photo.length) };
  assert.equal((await images.send(testPerson(), "POST", "/images/uploads", { headers })).status, 403);
  assert.equal((await images.send(null, "OPTIONS", "/images/uploads")).headers.get("tus-version"), null);
});

test("the store accepts exactly the announced bytes, under their type", async () => {
  const who = testPerson();
  const upload = await begin(who, { sha256: sha256Of(photo) });
  const other = Buffer.from(photo);
  other[100] = (other[100] ?? 0) ^ 1;
  const refusals = [
    await put(upload, Buffer.concat([photo, Buffer.alloc(1)])),
    await put(upload, photo.subarray(1)),
    await put(upload, other),
    await put(upload, photo, { "content-type": "text/html" }),
    await put({ ...upload, url: upload.url.replace(upload.id, `${upload.id}x`) }, photo),
    await put({ ...upload, headers: { "content-type": "image/jpeg" } }, photo),
  ];
  assert.ok(
    refusals.every((status) => status >= 400 && status < 500),
    refusals.join(),
  );
  assert.equal(await bytesOf(who, upload), null);
});

test("bytes that a URL puts after the completion are removed", async () => {
  const who = testPerson();
  const upload = await begin(who);
  assert.equal(await put(upload, photo), 200);
  const { body: image } = await complete(who, upload.id);
  await eventually(async () => (await bytesOf(who, upload)) === null);
  const other = Buffer.alloc(photo.length, 7);
  assert.equal(await put(upload, other), 200);
  const again = await complete(who, upload.id);
  assert.deepEqual([again.status, again.body.id, again.body.sha256], [200, image.id, image.sha256]);
  assert.ok((await images.send(who, "GET", `/images/${image.id}/original`)).bytes.equals(photo));
  clock.advance(hours(1) + minutes(15));
  const passing = testPerson();
  await images.send(passing, "DELETE", `/images/uploads/${(await begin(passing)).id}`);
  await eventually(async () => (await bytesOf(who, upload)) === null);
  // The row is the last to go: it is what knows of the bytes.
  await eventually(async () => (await images.send(who, "GET", `/images/uploads/${upload.id}`)).status === 404);
});

test("bytes that are no image are refused until others are put in their place", async () => {
  const who = testPerson();
  const upload = await begin(who);
  assert.equal(await put(upload, Buffer.alloc(photo.length, 7)), 200);
  assert.equal((await complete(who, upload.id)).status, 422);
  assert.equal(await put(upload, photo), 200);
  assert.equal((await complete(who, upload.id)).status, 201);
});

test("a piece sent to this service is 409: the bytes belong in the store", async () => {
  const who = testPerson();
  const { id } = await begin(who);
  const headers = { "content-type": "application/partial-upload", "upload-offset": "0" };
  assert.equal((await images.send(who, "PATCH", `/images/uploads/${id}`, { headers, body: photo })).status, 409);
});
