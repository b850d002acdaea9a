import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { eventually, fixtureNames, readFixture, testPerson } from "@signalbox/testing";
import { type Harness, startImages } from "./harness.ts";

let images: Harness;
before(async () => {
  images = await startImages();
});
after(() => images.close());

const waitingFiles = async (): Promise<string[]> => {
  const [folder] = (await readdir(images.stagingFolder)).filter((name) => name.startsWith("signalbox-uploads-"));
  return readdir(`${images.stagingFolder}/${folder}`);
};

test("an uploaded photograph is 201 once it is recorded with its event", async () => {
  const who = testPerson();
  const photo = await readFixture("photo-rotated.jpg");
  const fields = { title: "Hills", alt_text: "Green hills", tags: ["sea", "sky", "sea"], visibility: "public" };
  const { status, headers, body } = await images.upload(who, photo, fields, "hügel & täler.jpg");
  assert.equal(status, 201);
  assert.equal(headers.get("location"), `/images/${body.id}`);
  assert.ok(headers.get("etag"));
  assert.equal(body.account_id, who.accountId);
  assert.equal(body.filename, "hügel & täler.jpg");
  assert.equal(body.mime_type, "image/jpeg");
  assert.equal(body.size_bytes, photo.length);
  assert.equal(body.sha256, createHash("sha256").update(photo).digest("hex"));
  assert.deepEqual(
    [body.title, body.caption, body.alt_text, body.tags],
    ["Hills", null, "Green hills", ["sea", "sky"]],
  );
  assert.deepEqual([body.visibility, body.status, body.animated], ["public", "processing", false]);
  assert.equal(typeof body.placeholder, "string");
  assert.deepEqual(Object.keys(body.variants), ["thumbnail", "small", "medium", "large"]);

  const events = await images.eventsOf(who.accountId, 2);
  assert.deepEqual(events.map(({ name }) => name).sort(), ["image.created", "image.render_requested"]);
  const created = events.find(({ name }) => name === "image.created");
  assert.deepEqual(created?.data, { ...body, changed: [] });
  assert.deepEqual((await images.send(who, "GET", `/images/${body.id}`)).body, body);
  assert.ok((await images.blobKeys()).includes(`originals/${who.accountId}/${body.sha256}`));
  assert.deepEqual(await waitingFiles(), []);
});

test("two records of the same file share one blob", async () => {
  const who = testPerson();
  const file = await readFixture("alpha.png");
  const [one, two] = [await images.upload(who, file), await images.upload(who, file)];
  assert.deepEqual([one.status, two.status], [201, 201]);
  assert.notEqual(one.body.id, two.body.id);
  const key = `originals/${who.accountId}/${one.body.sha256}`;
  assert.equal((await images.blobKeys()).filter((other) => other === key).length, 1);
});

test("concurrent uploads wait for their turn longer than a rendition may", async (t) => {
  const impatient = await startImages({ "images.render.wait-max": 10 });
  t.after(() => impatient.close());
  const [who, file] = [testPerson(), await readFixture("photo-rotated.jpg")];
  const answers = await Promise.all(Array.from({ length: 12 }, () => impatient.upload(who, file)));
  assert.deepEqual(
    answers.map(({ status }) => status),
    answers.map(() => 201),
  );
});

test("every fixture is accepted, or refused with its reason", async () => {
  const expected: Record<string, [number, string]> = {
    "drawing.svg": [415, "unsupported_media_type"],
    "header-only.heic": [422, "validation_error"],
    "truncated.jpg": [422, "validation_error"],
    "bomb.png": [413, "image_too_large"],
  };
  const who = testPerson();
  for (const name of fixtureNames) {
    const { status, body } = await images.upload(who, await readFixture(name), {}, name);
    const [wanted, code] = expected[name] ?? [201, undefined];
    assert.deepEqual([status, body.error?.code], [wanted, code], name);
    if (status !== 201) assert.ok(body.error.details[0].message.length > 10, name);
  }
  assert.deepEqual(await waitingFiles(), []);
});

test("a HEIC is an image of any page, unless the operator has switched it off", async (t) => {
  const [who, file] = [testPerson(), await readFixture("phone.heic")];
  const { status, body } = await images.upload(who, file, {}, "IMG_0001.HEIC");
  assert.deepEqual([status, body.mime_type, body.width, body.color_space], [201, "image/heic", 106, "display_p3"]);
  const shown = await images.send(who, "GET", `/images/${body.id}/content`);
  assert.deepEqual([shown.status, shown.headers.get("content-type")], [200, "image/jpeg"]);
  assert.match(shown.headers.get("content-disposition") ?? "", /IMG_0001\.jpg/);
  const wide = await images.send(who, "GET", `/images/${body.id}/content?color=p3`);
  assert.notEqual(wide.headers.get("etag"), shown.headers.get("etag"));
  const strict = await startImages({ "supported.imageTypes": ["image/jpeg", "image/png"] });
  t.after(() => strict.close());
  const refused = await strict.upload(who, file);
  assert.deepEqual([refused.status, refused.body.error.code], [415, "unsupported_media_type"]);
});

test("a type is detected by the file's bytes, not by its name or the client's type", async () => {
  const who = testPerson();
  const { status, body } = await images.upload(who, await readFixture("alpha.png"), {}, "lie.jpg");
  assert.deepEqual([status, body.mime_type], [201, "image/png"]);
  for (const file of [Buffer.alloc(0), Buffer.from("just text"), randomBytes(5000)]) {
    assert.equal((await images.upload(who, file)).status, 422);
  }
});

test("a part `file` without a name is a file", async () => {
  const png = await readFixture("alpha.png");
  const head = '--b\r\ncontent-disposition: form-data; name="file"\r\ncontent-type: image/png\r\n\r\n';
  const body = Buffer.concat([Buffer.from(head), png, Buffer.from("\r\n--b--\r\n")]);
  const headers = { "content-type": "multipart/form-data; boundary=b" };
  const made = await images.send(testPerson(), "POST", "/images", { headers, body });
  assert.deepEqual([made.status, made.body.filename], [201, "image.png"]);
});

test("blanks may follow the boundary of a form", async () => {
  const png = await readFixture("alpha.png");
  const part = (head: string) => Buffer.from(`--b \t\r\ncontent-disposition: form-data; ${head}\r\n\r\n`);
  const parts = [part('name="title"'), Buffer.from("Hills\r\n"), part('name="file"; filename="a.png"'), png];
  const body = Buffer.concat([...parts, Buffer.from("\r\n--b--  \r\n")]);
  const headers = { "content-type": 'multipart/form-data; boundary="b"' };
  const made = await images.send(testPerson(), "POST", "/images", { headers, body });
  assert.deepEqual([made.status, made.body.title, made.body.size_bytes], [201, "Hills", png.length]);
});

test("a JPEG that lacks only its end marker is shown whole", async () => {
  const [who, photo] = [testPerson(), await readFixture("photo.jpg")];
  const [cut, whole] = [await images.upload(who, photo.subarray(0, -2)), await images.upload(who, photo)];
  assert.deepEqual([cut.status, cut.body.size_bytes], [201, photo.length - 2]);
  const shown = (id: string) => images.send(who, "GET", `/images/${id}/content?width=300`);
  assert.ok((await shown(cut.body.id)).bytes.equals((await shown(whole.body.id)).bytes));
});

test("a file that is one byte too large is 413, announced or not", async () => {
  const small = await startImages({ "limits.maxUploadBytes": 100_000 });
  try {
    const who = testPerson();
    const photo = await readFixture("photo.jpg");
    const refused = await small.upload(who, photo);
    assert.deepEqual([refused.status, refused.body.error.code], [413, "image_too_large"]);
    assert.equal(refused.body.error.message, "An image may have at most 100000 bytes.");
    const announced = await small.upload(who, Buffer.concat([photo, Buffer.alloc(600_000)]));
    assert.deepEqual([announced.status, announced.body.error.code], [413, "image_too_large"]);
    assert.equal(announced.body.error.message, "The body is larger than 100000 bytes.");
    const boundary = "frontier";
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.jpg"\r\n\r\n`;
    const chunked = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from(head));
        for (let at = 0; at < photo.length; at += 50_000) controller.enqueue(photo.subarray(at, at + 50_000));
        controller.close();
      },
    });
    const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
    const streamed = await small.send(who, "POST", "/images", { headers, body: chunked });
    assert.deepEqual([streamed.status, streamed.body.error.code], [413, "image_too_large"]);
    assert.deepEqual(await small.blobKeys(), []);
  } finally {
    await small.close();
  }
});

test("an upload that breaks off leaves nothing: no record, no event, no blob, no file", async () => {
  const who = testPerson();
  const before = await images.blobKeys();
  const photo = await readFixture("photo.jpg");
  const { hostname, port } = new URL(images.url);
  const socket = connect(Number(port), hostname);
  const head = `--b\r\ncontent-disposition: form-data; name="file"; filename="a.jpg"\r\n\r\n`;
  socket.write(
    `POST /images HTTP/1.1\r\nhost: x\r\nauthorization: ${who.headers.authorization}\r\n` +
      `content-type: multipart/form-data; boundary=b\r\ncontent-length: ${photo.length + 500}\r\n\r\n${head}`,
  );
  socket.write(photo.subarray(0, 300_000));
  await eventually(async () => (await waitingFiles()).length === 1);
  socket.destroy();
  await eventually(async () => (await waitingFiles()).length === 0);
  assert.deepEqual(await images.blobKeys(), before);
  assert.deepEqual((await images.send(who, "GET", "/images")).body.items, []);
});

test("malformed forms are refused by their first fault, with the part's name", async () => {
  const who = testPerson();
  const file = await readFixture("one-pixel.png");
  const cases: [Record<string, string | string[]>, number, string][] = [
    [{ title: "x".repeat(201) }, 422, "title"],
    [{ visibility: "secret" }, 422, "visibility"],
    [{ colour: "red" }, 422, "colour"],
    [{ title: ["a", "b"] }, 400, "title"],
    [{ tags: Array.from({ length: 51 }, (_, index) => `t${index}`) }, 422, "tags"],
    [{ tags: "x".repeat(65) }, 422, "tags[0]"],
    [{ tags: '["a", 1]' }, 422, "tags[1]"],
    [{ alt_text: "a\u202eb" }, 422, "alt_text"],
  ];
  for (const [fields, status, field] of cases) {
    const answer = await images.upload(who, file, fields);
    assert.deepEqual([answer.status, answer.body.error.field], [status, field], JSON.stringify(fields));
  }
  const multipart = (body: string) =>
    images.send(who, "POST", "/images", { headers: { "content-type": "multipart/form-data; boundary=b" }, body });
  assert.equal((await multipart("")).status, 400);
  assert.equal((await multipart("--b--\r\n")).status, 400);
  assert.equal(
    (await multipart('--b\r\ncontent-disposition: form-data; name="title"\r\n\r\nx\r\n--b--\r\n')).status,
    400,
  );
  assert.equal(
    (await multipart('--b\r\ncontent-disposition: form-data; name="file"; filename="a.png"\r\n\r\nhalf')).status,
    400,
  );
  const misnamed = (name: string) =>
    multipart(`--b\r\ncontent-disposition: form-data; name="${name}"; filename="a.png"\r\n\r\nx\r\n--b--\r\n`);
  for (const [name, code] of [
    ["image", "unknown_member"],
    ["title", "invalid"],
  ] as const) {
    const { status, body } = await misnamed(name);
    const [detail] = body.error.details;
    assert.deepEqual([status, detail.field, detail.code], [422, name, code]);
    for (const message of [body.error.message, detail.message])
      assert.match(message, /the image in the part `file`\.$/);
  }
  const noBoundary = { headers: { "content-type": "multipart/form-data" }, body: "x" };
  assert.equal((await images.send(who, "POST", "/images", noBoundary)).status, 400);
  assert.equal(
    (await images.send(who, "POST", "/images", { headers: { "content-type": "image/png" }, body: "x" })).status,
    415,
  );
  assert.deepEqual(await waitingFiles(), []);
});

test("a file name is cleaned of its folder, as well as of what exceeds 255 bytes", async () => {
  const who = testPerson();
  const file = await readFixture("one-pixel.png");
  assert.equal((await images.upload(who, file, {}, "../../etc/passwd.png")).body.filename, "passwd.png");
  const { status, body } = await images.upload(who, file, {}, `${"x".repeat(256)}.png`);
  assert.deepEqual([status, body.filename], [201, `${"x".repeat(251)}.png`]);
});

test("the same key repeats the answer for the same file alone", async () => {
  const who = testPerson();
  const [one, other] = [await readFixture("one-pixel.png"), await readFixture("alpha.png")];
  const send = (file: Buffer) => {
    const form = new FormData();
    form.append("file", new Blob([new Uint8Array(file)]), "a.png");
    return images.send(who, "POST", "/images", { headers: { "idempotency-key": "k-1" }, body: form });
  };
  const [first, again, different] = [await send(one), await send(one), await send(other)];
  assert.deepEqual([first.status, again.status, different.status], [201, 201, 422]);
  assert.deepEqual(again.body, first.body);
  assert.equal((await images.send(who, "GET", "/images")).body.items.length, 1);
});

test("without credentials it is 401, without the scope 403", async () => {
  const file = await readFixture("one-pixel.png");
  assert.equal((await images.upload(testPerson({ scopes: ["images:read"] }), file)).status, 403);
  assert.equal((await images.send(null, "POST", "/images", { body: {} })).status, 401);
});

test("a digest of the body is checked: the right one is accepted, another or an unreadable one is 400", async () => {
  const who = testPerson();
  const body = Buffer.concat([
    Buffer.from('--b\r\ncontent-disposition: form-data; name="file"; filename="a.png"\r\n\r\n'),
    await readFixture("one-pixel.png"),
    Buffer.from("\r\n--b--\r\n"),
  ]);
  const digestOf = (algorithm: string, of = body) => createHash(algorithm).update(of).digest("base64");
  const send = (headers: Record<string, string>) =>
    images.send(who, "POST", "/images", {
      headers: { "content-type": "multipart/form-data; boundary=b", ...headers },
      body: new Uint8Array(body),
    });
  const [right, wrong] = [digestOf("sha256"), digestOf("sha256", Buffer.from("other"))];
  assert.equal((await send({ "content-digest": `sha-256=:${right}:` })).status, 201);
  assert.equal((await send({ "repr-digest": `sha-512=:${digestOf("sha512")}:, sha-256=:${right}:` })).status, 201);
  assert.equal((await send({ "content-digest": `unixsum=:${wrong}:` })).status, 201, "an unsupported algorithm");
  const total = (await images.send(who, "GET", "/images")).body.items.length;
  const refused: Record<string, string>[] = [
    { "content-digest": `sha-256=:${wrong}:` },
    { "repr-digest": `sha-256=:${right}:, sha-512=:${wrong}:` },
    { "content-digest": `sha-256=${right}` },
  ];
  for (const headers of refused) {
    const answer = await send(headers);
    assert.deepEqual([answer.status, answer.body.error.code], [400, "invalid_request"]);
    assert.equal(answer.body.error.details[0].field, Object.keys(headers)[0]);
  }
  assert.equal((await images.send(who, "GET", "/images")).body.items.length, total);
  assert.deepEqual(await waitingFiles(), []);
});

test("a file that the disk refuses is 503 and logged", async () => {
  const own = await startImages();
  try {
    const [folder] = (await readdir(own.stagingFolder)).filter((name) => name.startsWith("signalbox-uploads-"));
    await rm(`${own.stagingFolder}/${folder}`, { recursive: true });
    const { status, body, headers } = await own.upload(testPerson(), await readFixture("photo.jpg"));
    assert.deepEqual([status, body.error.code], [503, "unavailable"]);
    assert.ok(Number(headers.get("retry-after")) > 0);
    assert.ok(own.context.logged.some(({ msg, level }) => level === "error" && /storing .* failed/.test(String(msg))));
  } finally {
    await own.close();
  }
});

test("the hash of an original of this account creates another record without its bytes, another account's is 404", async () => {
  const [who, other] = [testPerson(), testPerson()];
  const first = (await images.upload(who, await readFixture("photo.jpg"), { title: "First" })).body;
  const { sha256 } = first;
  const again = await images.send(who, "POST", "/images", { body: { sha256, title: "Again", filename: "b.jpg" } });
  assert.equal(again.status, 201);
  assert.equal(again.headers.get("location"), `/images/${again.body.id}`);
  assert.deepEqual(
    [again.body.title, again.body.filename, again.body.sha256, again.body.status],
    ["Again", "b.jpg", sha256, "processing"],
  );
  for (const same of ["width", "height", "size_bytes", "mime_type", "placeholder", "dominant_color"]) {
    assert.equal(again.body[same], first[same], same);
  }
  assert.equal((await images.send(who, "GET", `/images/${again.body.id}/content?width=50`)).status, 200);
  assert.equal((await images.send(who, "POST", "/images", { body: { sha256 } })).body.filename, "b.jpg");
  assert.equal((await images.send(other, "POST", "/images", { body: { sha256 } })).status, 404);
  const source_url = "https://example.com/a.jpg";
  const refused: [object, number, string][] = [
    [{}, 400, "source_url"],
    [{ sha256: "abc" }, 422, "sha256"],
    [{ sha256, source_url }, 422, "sha256"],
    [{ filename: "a.jpg", source_url }, 422, "filename"],
  ];
  for (const [body, status, field] of refused) {
    const answer = await images.send(who, "POST", "/images", { body });
    assert.deepEqual([answer.status, answer.body.error.field], [status, field], JSON.stringify(body));
  }
});
