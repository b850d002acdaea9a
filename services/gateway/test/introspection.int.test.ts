import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { testPerson } from "@signalbox/testing";
import { getIntrospectionQuery } from "graphql";
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
  const { body } = await gateway.query(testPerson(), "{ __typename viewer { __typename } }");
  assert.deepEqual(body.data, { __typename: "Query", viewer: { __typename: "Account" } });
});
