import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { catalogue, schemaRegistry } from "@signalbox/contracts";
import { type Harness, startGateway } from "./harness.ts";

const baseUrl = "https://api.example.com/base";
let gateway: Harness;
before(async () => {
  gateway = await startGateway({ "http.base-url": baseUrl });
});
after(() => gateway.close());

const get = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(`${gateway.url}${path}`, { headers });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === "" ? null : JSON.parse(text) };
};

test("anybody may read and cache the schema of an event at its address", async () => {
  for (const event of [...catalogue, { name: "envelope", version: 1 }]) {
    const path = schemaRegistry.pathOf(event);
    const { status, headers, body } = await get(path);
    assert.equal(status, 200, path);
    assert.equal(body.$id, `${baseUrl}${path}`);
    assert.equal(headers.get("content-type"), "application/schema+json; charset=utf-8");
    assert.equal(headers.get("cache-control"), "public, max-age=86400, immutable");
    const etag = headers.get("etag") ?? assert.fail("no ETag");
    assert.equal((await get(path, { "if-none-match": etag })).status, 304);
  }
});

test("a schema is JSON for a client that wants it; other types are 406", async () => {
  const path = "/schemas/image.created/v1.json";
  const { status, headers } = await get(path, { accept: "application/json" });
  assert.deepEqual([status, headers.get("content-type")], [200, "application/json; charset=utf-8"]);
  assert.equal((await get(path, { accept: "application/xml" })).status, 406);
});

test("a path that names no schema is 404", async () => {
  const paths = [
    "image.created/v2.json",
    "image.created/v1",
    "image.created/1.json",
    "nothing/v1.json",
    "__proto__/v1.json",
    "..%2Fschemas/v1.json",
  ];
  for (const path of paths) {
    const { status, body } = await get(`/schemas/${path}`);
    assert.deepEqual([status, body.error.code], [404, "not_found"], path);
  }
});

const registryType = "application/vnd.schemaregistry.v1+json";

test("the registry answers what its clients ask, with the parameters and types that they send", async () => {
  const accept = `${registryType}, application/vnd.schemaregistry+json, application/json`;
  const { headers, body: subjects } = await get("/subjects?deleted=false&offset=0&limit=-1", { accept });
  assert.equal(headers.get("content-type"), registryType);
  assert.ok(subjects.includes("image.created") && subjects.includes("signalbox.image.v1-value"));
  assert.deepEqual((await get("/schemas/types")).body, ["JSON"]);
  for (const { subject, version, id, guid, schema } of schemaRegistry.registered(baseUrl)) {
    const path = `/subjects/${subject}/versions`;
    assert.deepEqual((await get(path)).body, [version]);
    for (const named of [String(version), "latest", "-1"]) {
      const { body } = await get(`${path}/${named}`);
      assert.deepEqual(body, { subject, version, id, guid, schemaType: "JSON", schema });
    }
    const known = { schemaType: "JSON", schema, guid };
    assert.deepEqual((await get(`/schemas/ids/${id}?subject=${subject}&fetchMaxId=false`)).body, known);
    assert.deepEqual((await get(`/schemas/guids/${guid}`)).body, known);
  }
});

for (const [path, status, code] of [
  ["/subjects/nothing/versions", 404, 40_401],
  ["/subjects/nothing/versions/1", 404, 40_401],
  ["/subjects/image.created/versions/2", 404, 40_402],
  ["/subjects/image.created/versions/first", 422, 42_202],
  ["/subjects/image.created/versions/0", 422, 42_202],
  ["/schemas/ids/7", 404, 40_403],
  ["/schemas/ids/1e3", 404, 40_403],
  ["/schemas/guids/00000000-0000-0000-0000-000000000000", 404, 40_403],
] as const) {
  test(`${path} is refused as a registry does`, async () => {
    const { status: answered, body } = await get(path);
    assert.deepEqual([answered, body.error_code, typeof body.message], [status, code, "string"]);
  });
}

test("nothing can be registered", async () => {
  const body = JSON.stringify({ schema: "{}", schemaType: "JSON" });
  const answer = await fetch(`${gateway.url}/subjects/image.created/versions`, { method: "POST", body });
  assert.equal(answer.status, 405);
});
