import assert from "node:assert/strict";
import { test } from "node:test";
import lang from "@usebruno/lang";
import { brunoCollection } from "../generate/generators/bruno-collection.ts";
import { openApiDocuments } from "../generate/openapi/openapi-documents.ts";

const files = await brunoCollection.generate();
const requests = [...files].filter(
  ([path]) => /bruno\/[^/]+\/[^/]+\.bru$/.test(path) && !path.includes("/environments/"),
);

test("Bruno parses a request of every operation of the documents", async () => {
  const wanted = [...(await openApiDocuments()).values()].flatMap(({ paths }) =>
    Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item)
        .filter((method) => ["get", "post", "put", "patch", "delete"].includes(method))
        .map((method) => `${method} {{baseUrl}}${path.replaceAll(/\{(\w+)\}/g, ":$1")}`),
    ),
  );
  const found = requests.map(([, text]) => lang.bruToJsonV2(text).http).map(({ method, url }) => `${method} ${url}`);
  assert.ok(found.length > 80, `${found.length}`);
  assert.deepEqual(found.sort(), wanted.sort());
});

test("a request has the example of its body, and a value for each part of its path", () => {
  for (const [path, text] of requests) {
    const { http, body, params = [] } = lang.bruToJsonV2(text);
    if (http.body === "json") assert.doesNotThrow(() => JSON.parse(body.json), path);
    const parts = [...http.url.matchAll(/:(\w+)/g)].map(([, name]) => name);
    const given = params
      .filter(({ type }: { type: string }) => type === "path")
      .map(({ name }: { name: string }) => name);
    assert.deepEqual(new Set(given), new Set(parts), path);
  }
  const key = requests.find(([path]) => path.endsWith("/createApiKey.bru"))?.[1] ?? assert.fail("createApiKey");
  assert.ok(JSON.parse(lang.bruToJsonV2(key).body.json).name);
});
