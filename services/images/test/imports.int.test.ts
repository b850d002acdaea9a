import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { after, before, test } from "node:test";
import { readFixture, type ServedListener, serveListener, testPerson } from "@signalbox/testing";
import { type Harness, startImages } from "./harness.ts";

let images: Harness;
let source: ServedListener;
let photo: Buffer;

const serve: RequestListener = (request, response) => {
  switch (request.url) {
    case "/gallery/hills%20at%20dawn.jpg":
      return void response.setHeader("content-type", "text/plain").end(photo);
    case "/moved":
      return void response.writeHead(302, { location: "/gallery/hills%20at%20dawn.jpg" }).end();
    case "/to-metadata":
      return void response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data/" }).end();
    case "/page":
      return void response.end("<html>no image</html>");
    case "/broken":
      response.setHeader("content-length", photo.length);
      response.write(photo.subarray(0, 1000));
      return void setTimeout(() => response.destroy(), 20);
    case "/down":
      return void response.writeHead(500).end();
    case "/endless":
      for (let count = 0; count < 30; count++) response.write(Buffer.alloc(1_000_000));
      return void response.end();
    default:
      return void response.writeHead(404).end();
  }
};

before(async () => {
  photo = await readFixture("photo.jpg");
  [images, source] = await Promise.all([startImages(), serveListener(serve)]);
});
after(async () => {
  await source.close();
  await images.close();
});

test("an image is imported from a URL by either route, also through a redirect", async () => {
  const who = testPerson();
  for (const [route, path] of [
    ["/images/import", "/gallery/hills%20at%20dawn.jpg"],
    ["/images", "/moved"],
  ]) {
    const json = { source_url: source.url + path, alt_text: "Hills", visibility: "public" };
    const { status, headers, body } = await images.send(who, "POST", route as string, { body: json });
    assert.equal(status, 201, route);
    assert.equal(headers.get("location"), `/images/${body.id}`);
    assert.deepEqual([body.filename, body.alt_text, body.visibility], ["hills at dawn.jpg", "Hills", "public"]);
    assert.equal(body.size_bytes, photo.length);
  }
});

test("GraphQL imports by the same rules", async () => {
  const who = testPerson();
  const query = `mutation ($input: ImportImageInput!) {
    importImage(input: $input) { image { id title visibility status } errors { field code } } }`;
  const run = (input: object) => images.graphql(who, query, { input });
  const { data } = await run({ sourceUrl: `${source.url}/moved`, title: "Hills", visibility: "public" });
  const { image, errors } = data.importImage;
  assert.deepEqual([image.title, image.visibility, errors], ["Hills", "public", []]);
  assert.equal((await images.send(who, "GET", `/images/${image.id}`)).body.title, "Hills");
  const [forbidden, text] = [await run({ sourceUrl: "ftp://a/b" }), await run({ sourceUrl: `${source.url}/page` })];
  assert.deepEqual([forbidden.data.importImage.image, forbidden.data.importImage.errors[0].field], [null, "sourceUrl"]);
  assert.deepEqual([text.data.importImage.image, text.data.importImage.errors[0].code], [null, "not_an_image"]);
});

test("a forbidden URL is 422 on its field, also behind a redirect", async () => {
  const who = testPerson();
  const urls = [
    "ftp://example.com/a.jpg",
    "file:///etc/passwd",
    "not a url",
    "http://user:pass@example.com/a.jpg",
    "http://10.0.0.1/a.jpg",
    "http://[::ffff:10.0.0.1]/",
    "http://169.254.169.254/",
    `${source.url}/to-metadata`,
  ];
  for (const url of urls) {
    const { status, body } = await images.send(who, "POST", "/images/import", { body: { source_url: url } });
    assert.deepEqual([status, body.error.field], [422, "source_url"], url);
  }
});

test("an address at which the source has nothing is 422 on its field", async () => {
  const { status, body } = await images.send(testPerson(), "POST", "/images/import", {
    body: { source_url: `${source.url}/none` },
  });
  assert.deepEqual([status, body.error.code, body.error.details[0].field], [422, "validation_error", "source_url"]);
});

test("a source that cannot be reached, fails or breaks off is 502", async () => {
  const who = testPerson();
  const closed = await serveListener(() => {});
  await closed.close();
  for (const url of [`${closed.url}/a.jpg`, `${source.url}/down`, `${source.url}/broken`]) {
    const { status, body } = await images.send(who, "POST", "/images/import", { body: { source_url: url } });
    assert.deepEqual([status, body.error.code, body.error.field], [502, "bad_gateway", "source_url"], url);
  }
});

test("an imported file is judged like an upload: no image, too large", async () => {
  const who = testPerson();
  const from = (path: string) =>
    images.send(who, "POST", "/images/import", { body: { source_url: source.url + path } });
  assert.equal((await from("/page")).status, 422);
  const large = await from("/endless");
  assert.deepEqual([large.status, large.body.error.code], [413, "image_too_large"]);
});

test("a missing source is 400, unknown members are 422", async () => {
  const who = testPerson();
  assert.equal((await images.send(who, "POST", "/images/import", { body: { alt_text: "x" } })).status, 400);
  const json = { source_url: `${source.url}/moved`, colour: "red" };
  assert.equal((await images.send(who, "POST", "/images/import", { body: json })).status, 422);
});
