import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { after, before, test } from "node:test";
import { brotliDecompressSync } from "node:zlib";
import { asyncApiDocument } from "@signalbox/contracts";
import { testPerson } from "@signalbox/testing";
import { getIntrospectionQuery } from "graphql";
import { parse } from "yaml";
import { type Harness, startGateway } from "./harness.ts";

let gateway: Harness;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());

const html = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };
const query = "query Locale { serverSettings { locale } }";

test("the files of the page are those of the packages", async () => {
  const assets = new URL("../assets/", import.meta.url);
  const packages: { name: string; files: Record<string, string> }[] = JSON.parse(
    await readFile(new URL("packages.json", assets), "utf8"),
  );
  for (const { name, files } of packages) {
    for (const [file, digest] of Object.entries(files)) {
      const bytes = brotliDecompressSync(await readFile(new URL(`${name}/${basename(file)}.br`, assets)));
      assert.equal(`sha256-${createHash("sha256").update(bytes).digest("base64")}`, digest, `${name}/${file}`);
    }
  }
});

test("a client that asks for no page gets none", async () => {
  for (const accept of ["*/*", "application/json", "application/graphql-response+json, */*;q=0.5"]) {
    const { headers } = await gateway.get(query, { accept });
    assert.match(headers.get("content-type") ?? "", /json/, accept);
  }
});

test("no other file is served beside those of the page", async () => {
  for (const name of ["package.json", "..%2Fpackage.json", "__proto__"])
    assert.equal((await fetch(`${gateway.url}/graphql/assets/${name}`)).status, 404, name);
});

test("with graphql.graphiql off a browser gets what everybody gets", async () => {
  const off = await startGateway({ "graphql.graphiql": false });
  const { status, body, headers } = await off.get(query, html);
  await off.close();
  assert.match(headers.get("content-type") ?? "", /^application\/json/);
  assert.deepEqual([status, body], [200, { data: { serverSettings: { locale: "en" } } }]);
  assert.equal((await fetch(`${gateway.url}/graphql/signed-in`, { headers: html })).status, 200);
  assert.equal((await fetch(`${closedGateway.url}/graphql/signed-in`, { headers: html })).status, 404);
});

let closedGateway: Harness;
before(async () => {
  closedGateway = await startGateway({ "graphql.introspection": false });
});
after(() => closedGateway.close());

test("with graphql.introspection off nobody learns of the schema, not from errors either", async () => {
  const typed = '{ __type(name: "Account") { fields { name } } }';
  for (const query of [getIntrospectionQuery(), typed, "{ viewer { displayNam } }", "{ viewr { id } }"]) {
    const { body, text } = await closedGateway.query(testPerson(), query);
    assert.equal(body.errors[0].extensions.code, "VALIDATION_FAILED", query);
    assert.doesNotMatch(text, /Did you mean|displayName"|viewer"/, query);
  }
  const status = "mutation ($input: SetAccountStatusInput!) { setAccountStatus(input: $input) { account { id } } }";
  for (const input of [{ accountI: "x" }, { accountId: "x", status: "suspende", reason: "x" }]) {
    const { text } = await closedGateway.query(testPerson(), status, { variables: { input } });
    assert.doesNotMatch(text, /Did you mean|suspended"/, "nor from its values");
  }
  const { body } = await closedGateway.query(testPerson(), "{ __typename viewer { __typename } }");
  assert.deepEqual(body.data, { __typename: "Query", viewer: { __typename: "Account" } });
  const page = await closedGateway.get("{ __typename }", { accept: "text/html" });
  assert.match(page.headers.get("content-type") ?? "", /json/, "a page that could not read the schema is not served");
});

test("nor does anybody read the schema as a document, unlike that of events", async () => {
  assert.equal((await fetch(`${closedGateway.url}/schema.graphql`)).status, 404);
  const events = await fetch(`${closedGateway.url}/asyncapi.yaml`);
  assert.deepEqual(parse(await events.text()), asyncApiDocument());
});

test("without http.security-contact there is no security.txt", async () => {
  const response = await fetch(`${closedGateway.url}/.well-known/security.txt`);
  assert.equal(response.status, 404);
  assert.match(await response.text(), /has no contact for security reports/);
});

test("security.txt names the contact and expires within a year", async () => {
  const contact = "mailto:security@example.org";
  const named = await startGateway({ "http.security-contact": contact });
  try {
    const response = await fetch(`${named.url}/.well-known/security.txt`);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "text/plain; charset=utf-8");
    const fields = Object.fromEntries((await response.text()).split("\n").map((line) => line.split(": ")));
    assert.equal(fields.Contact, contact);
    const days = (Date.parse(fields.Expires) - Date.now()) / 86_400_000;
    assert.ok(days > 170 && days < 365, fields.Expires);
  } finally {
    await named.close();
  }
});
