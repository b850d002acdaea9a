import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { draft, eventOf } from "@signalbox/contracts";
import { createManualClock, hours, minutes } from "@signalbox/core";
import { inTransaction, openPool, type Pool, sql } from "@signalbox/storage";
import {
  createReceiver,
  eventually,
  type Receiver,
  readFixture,
  type TestPerson,
  testPerson,
} from "@signalbox/testing";
import { type Harness, startImages } from "./harness.ts";

const limits = { "images.direct-upload.open-max": 3, "images.direct-upload.bytes-max": 3_000_000 };
let site: Receiver;
let images: Harness;
let clock: ReturnType<typeof createManualClock>;
let photo: Buffer;
/** Reads and disturbs the service's database. */
let database: Pool;
before(async () => {
  clock = createManualClock(new Date());
  site = await createReceiver();
  images = await startImages({ ...limits, "images.cors.origins": new URL(site.url).origin }, { clock });
  photo = await readFixture("photo.jpg");
  const url = images.context.configuration.get("database.url");
  database = openPool({ ...images.context, url, max: 2, applicationName: "in-the-way" });
  const stop = "begin raise exception 'stopped'; end";
  await database.query(sql("", `create function stop_here() returns trigger language plpgsql as $$ ${stop} $$`));
});
after(async () => {
  await images.close();
  await site.close();
});

const sha256Of = (file: Buffer) => createHash("sha256").update(file).digest("hex");
const announced = (file: Buffer, more: object = {}) => ({
  filename: "hills.jpg",
  mime_type: "image/jpeg",
  size_bytes: file.length,
  ...more,
});
const begin = async (who: TestPerson, file = photo, more: object = {}) =>
  (await images.send(who, "POST", "/images/uploads", { body: announced(file, more) })).body;
const patch = (who: TestPerson, id: string, offset: number | string, body: Buffer, headers: object = {}) =>
  images.send(who, "PATCH", `/images/uploads/${id}`, {
    headers: { "content-type": "application/partial-upload", "upload-offset": String(offset), ...headers },
    body,
  });
const complete = (who: TestPerson, id: string, body: object = {}, headers: Record<string, string> = {}) =>
  images.send(who, "POST", `/images/uploads/${id}/complete`, { headers, body });
const stateOf = (who: TestPerson, id: string) => images.send(who, "GET", `/images/uploads/${id}`);
const waiting = () => readdir(join(images.blobsFolder, ".incoming", "direct-uploads"));
const hasNoBytes = (id: string) => eventually(async () => !(await waiting()).includes(id));

test("an announced file that was sent in pieces becomes an image like any other", async () => {
  const who = testPerson();
  const announcement = announced(photo, { sha256: sha256Of(photo) });
  const { status, headers, body } = await images.send(who, "POST", "/images/uploads", { body: announcement });
  assert.equal(status, 201);
  assert.equal(headers.get("location"), `/images/uploads/${body.id}`);
  assert.deepEqual([body.method, new URL(body.url).pathname], ["PATCH", `/images/uploads/${body.id}`]);
  assert.deepEqual(body.headers, { "Content-Type": "application/partial-upload", "Upload-Offset": "0" });

  const first = await patch(who, body.id, 0, photo.subarray(0, 100_000));
  assert.deepEqual([first.status, first.headers.get("upload-offset")], [204, "100000"]);
  assert.equal(first.headers.get("upload-complete"), "?0");
  const head = await images.send(who, "HEAD", `/images/uploads/${body.id}`);
  assert.deepEqual(
    ["upload-offset", "upload-length", "upload-complete", "cache-control"].map((name) => head.headers.get(name)),
    ["100000", String(photo.length), "?0", "no-store"],
  );
  const early = await complete(who, body.id);
  assert.deepEqual([early.status, early.body.error.code], [409, "conflict"]);
  const rest = await patch(who, body.id, 100_000, photo.subarray(100_000));
  assert.deepEqual([rest.status, rest.headers.get("upload-complete")], [204, "?1"]);
  assert.deepEqual((({ status: of, received_bytes }) => [of, received_bytes])((await stateOf(who, body.id)).body), [
    "open",
    photo.length,
  ]);

  const made = await complete(who, body.id, { title: "Hills", tags: ["sea"], visibility: "public" });
  assert.equal(made.status, 201);
  assert.equal(made.headers.get("location"), `/images/${made.body.id}`);
  const { filename, mime_type, size_bytes, sha256, title, tags, visibility, account_id } = made.body;
  assert.deepEqual(
    { filename, mime_type, size_bytes, sha256, title, tags, visibility, account_id },
    { ...announcement, title: "Hills", tags: ["sea"], visibility: "public", account_id: who.accountId },
  );
  const events = await images.eventsOf(who.accountId, 2);
  assert.deepEqual(events.map(({ name }) => name).sort(), ["image.created", "image.render_requested"]);
  const entries = (await images.auditOf(who.accountId, 2)) as unknown as { data: { action: string } }[];
  assert.deepEqual(
    entries.map(({ data }) => data.action),
    ["image_upload.create", "image.create"],
  );
  assert.ok((await images.send(who, "GET", `/images/${made.body.id}/original`)).bytes.equals(photo));
  const { body: state } = await stateOf(who, body.id);
  assert.deepEqual(
    [state.status, state.image_id, state.filename, state.received_bytes],
    ["completed", made.body.id, "", 0],
  );
  await hasNoBytes(body.id);
});

test("all completions of an upload return the same image", async () => {
  const who = testPerson();
  const { id } = await begin(who);
  await patch(who, id, 0, photo);
  const at = await Promise.all(Array.from({ length: 4 }, () => complete(who, id)));
  const later = await complete(who, id, { title: "Another" });
  assert.deepEqual(at.map(({ status }) => status).sort(), [200, 200, 200, 201]);
  assert.deepEqual([later.status, later.body.title], [200, null]);
  assert.equal(new Set([...at, later].map(({ body }) => body.id)).size, 1);
  assert.equal((await images.send(who, "GET", "/images")).body.items.length, 1);
  await images.send(who, "DELETE", `/images/${later.body.id}`);
  assert.equal((await complete(who, id)).status, 404, "of a deleted image");
  assert.equal((await images.send(who, "GET", "/images")).body.items.length, 0);
});

test("an idempotency key repeats the answer of each step", async () => {
  const who = testPerson();
  const key = { "idempotency-key": "k-1" };
  const announce = () => images.send(who, "POST", "/images/uploads", { headers: key, body: announced(photo) });
  const [one, two] = [await announce(), await announce()];
  assert.deepEqual(two.body, one.body);
  await patch(who, one.body.id, 0, photo);
  const made = await complete(who, one.body.id, {}, { "idempotency-key": "k-2" });
  const again = await complete(who, one.body.id, {}, { "idempotency-key": "k-2" });
  assert.deepEqual([made.status, again.status, again.body], [201, 201, made.body]);
});

test("received bytes survive a broken connection: another offset than theirs is 409", async () => {
  const who = testPerson();
  const { id } = await begin(who);
  const { hostname, port } = new URL(images.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `PATCH /images/uploads/${id} HTTP/1.1\r\nhost: x\r\nauthorization: ${who.headers.authorization}\r\n` +
      `content-type: application/partial-upload\r\nupload-offset: 0\r\ncontent-length: ${photo.length}\r\n\r\n`,
  );
  socket.write(photo.subarray(0, 200_000));
  await eventually(async () => (await stateOf(who, id)).body.received_bytes === 200_000);
  socket.destroy();
  for (const offset of [0, 199_999, 200_001]) {
    const refused = await patch(who, id, offset, photo.subarray(0, 10));
    assert.deepEqual([refused.status, refused.headers.get("upload-offset")], [409, "200000"], String(offset));
  }
  assert.equal((await patch(who, id, 200_000, photo.subarray(200_000))).status, 204);
  assert.equal((await complete(who, id)).body.sha256, sha256Of(photo));
});

test("of concurrent requests with the same piece one continues until the bytes are complete", async () => {
  const who = testPerson();
  const { id } = await begin(who);
  const answers = await Promise.all(Array.from({ length: 6 }, () => patch(who, id, 0, photo)));
  const taken = answers.filter(({ status }) => status === 204);
  assert.ok(taken.length <= 1);
  assert.ok(answers.every(({ status }) => status === 204 || status === 409));
  const { received_bytes: received } = (await stateOf(who, id)).body;
  if (received < photo.length) await patch(who, id, received, photo.subarray(received));
  assert.equal((await complete(who, id)).body.sha256, sha256Of(photo));
});

test("more than was announced is 413, which leaves nothing of the piece", async () => {
  const who = testPerson();
  const { id } = await begin(who, photo.subarray(0, 1_000));
  await patch(who, id, 0, photo.subarray(0, 500));
  const streamed = new Blob([new Uint8Array(photo)]).stream();
  for (const body of [photo.subarray(500, 1_001), streamed as unknown as Buffer]) {
    const refused = await patch(who, id, 500, body);
    assert.deepEqual([refused.status, refused.body.error.code], [413, "image_too_large"]);
    assert.equal((await stateOf(who, id)).body.received_bytes, 500);
  }
});

test("a piece without its offset, of another type, coded or with another digest is refused", async () => {
  const who = testPerson();
  const { id } = await begin(who);
  const piece = photo.subarray(0, 100);
  const digest = (of: Buffer) => `sha-256=:${createHash("sha256").update(of).digest("base64")}:`;
  assert.equal((await patch(who, id, "", piece)).status, 400);
  assert.equal((await patch(who, id, "-1", piece)).status, 400);
  assert.equal((await patch(who, id, 0, piece, { "content-type": "image/jpeg" })).status, 415);
  assert.equal((await patch(who, id, 0, piece, { "content-encoding": "gzip" })).status, 415);
  assert.equal((await patch(who, id, 0, piece, { "content-digest": digest(photo) })).status, 400);
  assert.equal((await stateOf(who, id)).body.received_bytes, 0);
  assert.equal((await patch(who, id, 0, piece, { "content-digest": digest(piece) })).status, 204);
});

test("an announcement is checked immediately: type, size, name, hash", async () => {
  const who = testPerson();
  const cases: [object, number, string][] = [
    [{ mime_type: "image/svg+xml" }, 415, "mime_type"],
    [{ size_bytes: 20 * 2 ** 20 + 1 }, 413, "size_bytes"],
    [{ size_bytes: 0 }, 422, "size_bytes"],
    [{ filename: "../a.jpg" }, 422, "filename"],
    [{ sha256: "abc" }, 422, "sha256"],
    [{ title: "Too early" }, 422, "title"],
  ];
  for (const [more, status, field] of cases) {
    const answer = await images.send(who, "POST", "/images/uploads", { body: announced(photo, more) });
    assert.deepEqual([answer.status, answer.body.error.details[0].field], [status, field]);
  }
});

test("bytes that differ from the announcement, or are no image, create no record", async () => {
  const who = testPerson();
  const broken = await readFixture("truncated.jpg");
  const [svg, png] = [await readFixture("drawing.svg"), await readFixture("alpha.png")];
  const cases: [Buffer, object, number, string][] = [
    [photo, { sha256: sha256Of(png) }, 400, "sha256"],
    [svg, {}, 415, "file"],
    [broken, {}, 422, "file"],
  ];
  for (const [file, more, status, field] of cases) {
    const { id } = await begin(who, file, more);
    await patch(who, id, 0, file);
    for (let time = 0; time < 2; time++) {
      const refused = await complete(who, id);
      assert.deepEqual([refused.status, refused.body.error.details[0].field], [status, field]);
    }
    assert.equal((await images.send(who, "DELETE", `/images/uploads/${id}`)).status, 204);
  }
  assert.deepEqual((await images.send(who, "GET", "/images")).body.items, []);
});

test("the bytes decide the type, whatever was announced", async () => {
  const who = testPerson();
  const png = await readFixture("alpha.png");
  for (const mime_type of ["image/jpg", "IMAGE/JPEG", "image/jpeg; charset=binary", "", "image/webp"]) {
    const { id } = await begin(who, png, { mime_type });
    await patch(who, id, 0, png);
    const { status, body } = await complete(who, id);
    assert.deepEqual([status, body.mime_type], [201, "image/png"], mime_type);
  }
});

test("open uploads are limited per account, by number or bytes, until one ends", async () => {
  const who = testPerson();
  const tiny = photo.subarray(0, 10);
  const open = [await begin(who, tiny), await begin(who, tiny), await begin(who, tiny)];
  const refused = await images.send(who, "POST", "/images/uploads", { body: announced(tiny) });
  assert.deepEqual([refused.status, refused.body.error.code], [409, "conflict"]);
  assert.ok((await begin(testPerson(), tiny)).id, "of another account");
  const [first] = open;
  await patch(who, first.id, 0, tiny);
  assert.equal((await images.send(who, "DELETE", `/images/uploads/${first.id}`)).status, 204);
  await hasNoBytes(first.id);
  assert.equal((await patch(who, first.id, 0, tiny)).status, 409);
  assert.equal((await complete(who, first.id)).status, 409);
  assert.equal((await stateOf(who, first.id)).body.status, "cancelled");
  const big = await images.send(who, "POST", "/images/uploads", { body: announced(tiny, { size_bytes: 2_999_990 }) });
  assert.equal(big.status, 409, "too many bytes");
  assert.ok((await begin(who, tiny)).id);
});

test("an upload is refused without its owner, the scope or the feature", async () => {
  const [who, other] = [testPerson(), testPerson()];
  const { id } = await begin(who);
  const reader = { ...testPerson({ scopes: ["images:read"] }) };
  for (const [method, path, options] of [
    ["GET", "", {}],
    ["DELETE", "", {}],
    ["POST", "/complete", { body: {} }],
  ] as const) {
    const at = (by: TestPerson | null) => images.send(by, method, `/images/uploads/${id}${path}`, options);
    assert.deepEqual([(await at(other)).status, (await at(reader)).status, (await at(null)).status], [404, 403, 401]);
  }
  assert.equal((await patch(other, id, 0, photo)).status, 404);
  assert.equal((await patch(reader, id, 0, photo)).status, 403);
  assert.equal((await stateOf(who, id)).body.received_bytes, 0);
});

test("an expired upload loses its bytes, later its row", async () => {
  const who = testPerson();
  const { id } = await begin(who);
  await patch(who, id, 0, photo);
  clock.advance(hours(1));
  assert.equal((await stateOf(who, id)).body.status, "expired");
  assert.equal((await patch(who, id, photo.length, Buffer.alloc(0))).status, 409);
  assert.equal((await complete(who, id)).status, 409);
  // Another account's cancellation wakes the sweep.
  const stirred = testPerson();
  await images.send(stirred, "DELETE", `/images/uploads/${(await begin(stirred)).id}`);
  await hasNoBytes(id);
  clock.advance(minutes(15));
  await images.send(stirred, "DELETE", `/images/uploads/${(await begin(stirred)).id}`);
  await eventually(async () => (await stateOf(who, id)).status === 404);
});

test("a purged account leaves nothing of its uploads", async () => {
  const who = testPerson();
  const { id } = await begin(who);
  await patch(who, id, 0, photo);
  const data = { ...eventOf("account.deleted").example, id: who.accountId };
  await images.publish(draft("account.deleted", { subject: who.accountId, accountId: who.accountId, data }));
  await hasNoBytes(id);
  assert.equal((await stateOf(who, id)).body.status, "cancelled");
});

test("a crash before the record leaves the upload open for the next completion", async () => {
  const who = testPerson();
  const { id } = await begin(who);
  await patch(who, id, 0, photo);
  const onlyTheirs = `before insert on images for each row when (new.account_id = '${who.accountId}')`;
  await database.query(sql("", `create trigger stopped ${onlyTheirs} execute function stop_here()`));
  assert.equal((await complete(who, id)).status, 500);
  const original = `originals/${who.accountId}/${sha256Of(photo)}`;
  assert.ok((await images.blobKeys()).includes(original), "the bytes came first");
  const { body: state } = await stateOf(who, id);
  assert.deepEqual([state.status, state.received_bytes], ["open", photo.length]);
  await database.query(sql("", "drop trigger stopped on images"));
  assert.equal((await complete(who, id)).status, 201);
  assert.equal((await images.send(who, "GET", "/images")).body.items.length, 1);
  await hasNoBytes(id);
});

test("an upload that is swept during its completion creates no image", async () => {
  const who = testPerson();
  const { id } = await begin(who);
  await patch(who, id, 0, photo);
  const completing = await inTransaction(database, async (tx) => {
    await tx.query(sql("", "select 1 from direct_uploads where id = $1 for update"), [id]);
    const answer = complete(who, id);
    await eventually(async () => {
      const waits = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%direct_uploads%'";
      return (await database.query(sql("", waits))).rowCount > 0;
    });
    await tx.query(sql("", "delete from direct_uploads where id = $1"), [id]);
    return { answer };
  });
  assert.equal((await completing.answer).status, 404);
  assert.deepEqual((await images.send(who, "GET", "/images")).body.items, []);
});

test("a page of a listed origin may send pieces by the offset that it reads", async () => {
  const { origin } = new URL(site.url);
  const who = testPerson();
  const { id } = await begin(who);
  const asked = await fetch(`${images.url}/images/uploads/${id}`, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "PATCH", "access-control-request-headers": "upload-offset" },
  });
  assert.equal(asked.headers.get("access-control-allow-origin"), origin);
  assert.match(asked.headers.get("access-control-allow-methods") ?? "", /PATCH/);
  assert.match(asked.headers.get("access-control-allow-headers") ?? "", /upload-offset/i);
  const { headers } = await patch(who, id, 0, photo.subarray(0, 10), { origin });
  assert.match(headers.get("access-control-expose-headers") ?? "", /Upload-Offset/);
});

test("a piece that the disk refuses is 503 and logged", async () => {
  const own = await startImages();
  try {
    const who = testPerson();
    const { id } = (await own.send(who, "POST", "/images/uploads", { body: announced(photo) })).body;
    await rm(join(own.blobsFolder, ".incoming", "direct-uploads"), { recursive: true });
    const { status, body, headers } = await own.send(who, "PATCH", `/images/uploads/${id}`, {
      headers: { "content-type": "application/partial-upload", "upload-offset": "0" },
      body: photo,
    });
    assert.deepEqual([status, body.error.code], [503, "unavailable"]);
    assert.ok(Number(headers.get("retry-after")) > 0);
    assert.ok(own.context.logged.some(({ msg, level }) => level === "error" && /storing .* failed/.test(String(msg))));
  } finally {
    await own.close();
  }
});

test("GraphQL takes an upload from its announcement to its image with the terms of REST", async () => {
  const who = testPerson();
  const announce = `mutation ($input: CreateImageUploadInput!) {
    createImageUpload(input: $input) { upload { id method url headers { name value } expiresAt } errors { field code } } }`;
  const finish = `mutation ($id: ID!, $input: CompleteImageUploadInput!) {
    completeImageUpload(id: $id, input: $input) { image { id title sha256 } errors { field code } } }`;
  const input = { filename: "hills.jpg", mimeType: "image/jpeg", sizeBytes: photo.length, sha256: sha256Of(photo) };
  const { data } = await images.graphql(who, announce, { input });
  const { upload, errors } = data.createImageUpload;
  assert.deepEqual([errors, upload.method], [[], "PATCH"]);
  assert.deepEqual(upload.headers[1], { name: "Upload-Offset", value: "0" });
  const early = await images.graphql(who, finish, { id: upload.id, input: {} });
  assert.equal(early.errors?.[0]?.extensions.code, "CONFLICT");
  await patch(who, upload.id, 0, photo);
  const ofOthers = await images.graphql(testPerson(), finish, { id: upload.id, input: {} });
  assert.equal(ofOthers.errors?.[0]?.extensions.code, "NOT_FOUND");
  const done = (await images.graphql(who, finish, { id: upload.id, input: { title: "Hills" } })).data;
  assert.deepEqual([done.completeImageUpload.errors, done.completeImageUpload.image.title], [[], "Hills"]);
  assert.equal(done.completeImageUpload.image.sha256, sha256Of(photo));
  const refused = await images.graphql(who, announce, { input: { ...input, sizeBytes: 0 } });
  assert.deepEqual(refused.data.createImageUpload, {
    upload: null,
    errors: [{ field: "sizeBytes", code: "too_small" }],
  });
});
