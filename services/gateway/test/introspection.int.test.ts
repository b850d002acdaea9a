import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { asyncApiDocument } from "@signalbox/contracts";
import { testPerson } from "@signalbox/testing";
import { getIntrospectionQuery } from "graphql";
import { parse } from "yaml";
import { openReader } from "../src/docs/reference-routes.ts";
import { type Harness, startGateway } from "./harness.ts";

let gateway: Harness;
before(async () => {
  gateway = await startGateway({ "graphql.introspection": false });
});
after(() => gateway.close());

test("with graphql.introspection off nobody learns of the schema, not from errors either", async () => {
  const typed = '{ __type(name: "Account") { fields { name } } }';
  for (const query of [getIntrospectionQuery(), typed, "{ viewer { displayNam } }", "{ viewr { id } }"]) {
    const { body, text } = await gateway.query(testPerson(), query);
    assert.equal(body.errors[0].extensions.code, "VALIDATION_FAILED", query);
    assert.doesNotMatch(text, /Did you mean|displayName"|viewer"/, query);
  }
  const status = "mutation ($input: SetAccountStatusInput!) { setAccountStatus(input: $input) { account { id } } }";
  for (const input of [{ accountI: "x" }, { accountId: "x", status: "suspende", reason: "x" }]) {
    const { text } = await gateway.query(testPerson(), status, { variables: { input } });
    assert.doesNotMatch(text, /Did you mean|suspended"/, "nor from its values");
  }
  const { body } = await gateway.query(testPerson(), "{ __typename viewer { __typename } }");
  assert.deepEqual(body.data, { __typename: "Query", viewer: { __typename: "Account" } });
  const page = await gateway.get("{ __typename }", { accept: "text/html" });
  assert.match(page.headers.get("content-type") ?? "", /json/, "a page that could not read the schema is not served");
});

test("nor does anybody read the schema as a document, while that of events is public and whole", async () => {
  assert.equal((await fetch(`${gateway.url}/schema.graphql`)).status, 404);
  const events = await fetch(`${gateway.url}/asyncapi.yaml`);
  assert.deepEqual(parse(await events.text()), asyncApiDocument());
});

test("without http.security-contact there is no security.txt", async () => {
  const response = await fetch(`${gateway.url}/.well-known/security.txt`);
  assert.equal(response.status, 404);
  assert.match(await response.text(), /names no contact for security reports/);
});

test("security.txt names the contact, and a date in less than a year by which to ask again", async () => {
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

test("without docs.reader there is no page about the routes", async () => {
  for (const path of ["/docs", "/docs/reader.js"]) {
    const response = await fetch(`${gateway.url}${path}`);
    assert.equal(response.status, 404);
    assert.match(await response.text(), /This deployment has no page about its routes/);
  }
});

test("a reader that cannot be read stops the start with the property's name", async () => {
  assert.equal(await openReader(null), null);
  await assert.rejects(openReader("nowhere/standalone.js"), /docs\.reader[\s\S]*no such file/);
});
