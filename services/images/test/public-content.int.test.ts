import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually, readFixture, testPerson } from "@signalbox/testing";
import { type Harness, startImages } from "./harness.ts";

let images: Harness;
before(async () => {
  const [transforms, budget] = [{ "images.public.transforms": "named" }, { "images.public.render-budget": 200 }];
  images = await startImages({ ...transforms, ...budget, "images.quota.images": 3, "images.quota.bytes": 2_000_000 });
});
after(() => images.close());

async function uploadedPublic() {
  const who = testPerson();
  const { id, variants } = (await images.upload(who, await readFixture("photo.jpg"), { visibility: "public" })).body;
  return { who, id, variants, content: `/images/${id}/content` };
}

test("with named transforms only the owner or a signed URL shows every form", async () => {
  const { who, id, variants, content } = await uploadedPublic();
  const { pathname, search } = new URL(variants.thumbnail);
  const seen = [
    await images.send(null, "GET", pathname + search),
    await images.send(null, "GET", `${content}?width=64`),
  ];
  assert.deepEqual(
    seen.map(({ status }) => status),
    [200, 200],
  );
  const form = `${content}?width=65`;
  for (const other of [null, testPerson()]) {
    const { status, body } = await images.send(other, "GET", form);
    assert.deepEqual([status, body.error.code], [403, "forbidden"]);
  }
  assert.equal((await images.send(who, "GET", form)).status, 200);
  assert.equal((await images.send(null, "GET", form)).status, 403, "stored or not");
  const body = { width: 65, expires_in_seconds: 60 };
  const signed = new URL((await images.send(who, "POST", `/images/${id}/signed-urls`, { body })).body.url);
  assert.equal((await images.send(null, "GET", signed.pathname + signed.search)).status, 200);
});

test("renditions for others are charged to the owner's budget; stored ones, the owner's and signed URLs are not", async () => {
  const { who, content } = await uploadedPublic();
  const forms = [3840, 2560, 2048, 1920, 1600, 1200, 1080, 960].flatMap((width) =>
    ["png", "webp", "jpeg"].map((format) => `${content}?width=${width}&format=${format}`),
  );
  const [first = "", ...rest] = forms;
  assert.equal((await images.send(null, "GET", first)).status, 200);
  const answers = [];
  for (const form of rest) {
    answers.push(await images.send(null, "GET", form));
    if (answers.at(-1)?.status !== 200) break;
  }
  const refused = answers.at(-1);
  assert.deepEqual([refused?.status, refused?.body.error?.code], [429, "rate_limited"]);
  assert.ok(Number(refused?.headers.get("retry-after")) > 0);
  // Its first caller did not wait until it was stored.
  await eventually(async () => (await images.send(null, "GET", first)).status === 200);
  assert.equal((await images.send(who, "GET", `${content}?width=123`)).status, 200);
  const other = await uploadedPublic();
  assert.equal((await images.send(null, "GET", `${other.content}?width=64`)).status, 200, "each owner has a budget");
});

test("an account's images and bytes are limited by its quota, shared originals count once, a deletion makes room", async () => {
  const who = testPerson();
  const photo = await readFixture("photo.jpg");
  const small = await readFixture("one-pixel.png");
  const first = await images.upload(who, photo);
  const copies = [await images.upload(who, photo), await images.upload(who, small)];
  assert.deepEqual(
    [first, ...copies].map(({ status }) => status),
    [201, 201, 201],
  );
  const fourth = await images.upload(who, small);
  assert.deepEqual([fourth.status, fourth.body.error.code], [409, "conflict"]);
  assert.match(fourth.body.error.message, /3 images/);
  assert.equal((await images.send(who, "GET", "/images")).body.items.length, 3);
  assert.equal((await images.send(who, "DELETE", `/images/${first.body.id}`)).status, 204);
  assert.equal((await images.upload(who, small)).status, 201);

  const large = Buffer.concat([photo, Buffer.alloc(2_000_000)]);
  const tooLarge = await images.upload(testPerson(), large);
  assert.deepEqual([tooLarge.status, tooLarge.body.error.code], [409, "conflict"]);
  assert.match(tooLarge.body.error.message, /2000000 bytes/);
});
