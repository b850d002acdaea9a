import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  createTcpProxy,
  eventually,
  readFixture,
  type TcpProxy,
  testPerson,
  testRedis,
  testS3,
} from "@signalbox/testing";
import { type Harness, startImages } from "./harness.ts";

let images: Harness;
let s3: TcpProxy;
before(async () => {
  const [bucket, redis] = await Promise.all([testS3(), testRedis()]);
  const server = new URL(bucket.origin);
  s3 = await createTcpProxy({ host: server.hostname, port: Number(server.port) });
  images = await startImages({
    "blobs.url": bucket.url.replace(server.host, `127.0.0.1:${s3.port}`),
    "blobs.access-key": bucket.accessKey,
    "blobs.secret-key": bucket.secretKey,
    "cache.url": redis.url,
    "images.render.memory": 0,
  });
});
after(async () => {
  await images.close();
  await s3.close();
});

test("on S3 and Redis an image is uploaded, shown in any form, and its original downloaded", async () => {
  const who = testPerson();
  const photo = await readFixture("photo.jpg");
  const { status, body } = await images.upload(who, photo);
  assert.equal(status, 201);
  const path = `/images/${body.id}/content?width=222&format=webp`;
  const answers = await Promise.all(Array.from({ length: 8 }, () => images.send(who, "GET", path)));
  for (const answer of answers) assert.ok(answer.bytes.equals(answers[0]?.bytes as Buffer));
  await eventually(async () => (await images.blobKeys()).some((key) => key.includes("/w222-")));
  assert.ok((await images.send(who, "GET", path)).bytes.equals(answers[0]?.bytes as Buffer));
  assert.ok((await images.send(who, "GET", `/images/${body.id}/original`)).bytes.equals(photo));
});

test("during an outage of the store records work and bytes are 503, and afterwards everything works again", async () => {
  const who = testPerson();
  const photo = await readFixture("small.webp");
  const { body } = await images.upload(who, photo);
  const content = `/images/${body.id}/content?width=20`;
  const { headers } = await images.send(who, "GET", content);
  await s3.refuse();
  try {
    assert.equal((await images.send(who, "PATCH", `/images/${body.id}`, { body: { title: "away" } })).status, 200);
    const same = { headers: { "if-none-match": headers.get("etag") ?? "" } };
    assert.equal((await images.send(who, "GET", content, same)).status, 304);
    for (const answer of [await images.send(who, "GET", `${content}1`), await images.upload(who, photo)]) {
      assert.deepEqual([answer.status, answer.body.error.code], [503, "unavailable"]);
      assert.ok(Number(answer.headers.get("retry-after")) > 0);
    }
  } finally {
    await s3.accept();
  }
  await eventually(async () => (await images.upload(who, photo)).status === 201);
  assert.equal((await images.send(who, "GET", `${content}1`)).status, 200);
  assert.equal((await images.send(who, "GET", "/images")).body.items.length, 2);
});
