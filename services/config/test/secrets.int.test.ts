import assert from "node:assert/strict";
import { test } from "node:test";
import { internalToken, testPerson } from "@signalbox/testing";
import { properties } from "../src/properties.ts";
import { type Harness, routes, setProperty, startConfig } from "./harness.ts";

const operator = testPerson();
const list = "{ properties { name value source override { value } } serverSettings { server { name } } }";

/** Everything that the service says to anybody about its configuration, in one text. */
async function everythingSaid(config: Harness): Promise<string> {
  const paths = [...routes, ...routes.map((path) => `${path}?unknown=1`), "/openapi/config.json"];
  const answers = await Promise.all(
    [operator, testPerson({ scopes: [] }), null].flatMap((who) => paths.map((path) => config.send(who, path))),
  );
  const graph = await Promise.all([
    config.graphql(operator, list),
    config.graphql(operator, setProperty, {
      input: { name: "internal.token", value: ["x".repeat(40)], expectedRevision: "0" },
    }),
  ]);
  const { text, headers } = {
    text: answers.map((answer) => answer.text).join("\n"),
    headers: answers.map((answer) => JSON.stringify([...answer.headers])).join("\n"),
  };
  return [text, headers, JSON.stringify(graph)].join("\n");
}

test("no secret ever leaves through any route, whoever asks", async () => {
  const secretNames = Object.entries(properties)
    .filter(([, declaration]) => declaration.secrecy === "secret")
    .map(([name]) => name);
  assert.ok(secretNames.includes("internal.token") && secretNames.includes("database.url"));
  const config = await startConfig();
  try {
    const said = await everythingSaid(config);
    const values = secretNames.flatMap((name) => config.context.configuration.get(name as keyof typeof properties));
    for (const secret of [...values, new URL(config.databaseUrl).password || internalToken, internalToken]) {
      assert.ok(!said.includes(String(secret)), `${String(secret)} was shown`);
    }
    assert.ok(said.includes("******"), "masked values are listed, so the search looked in the right place");
  } finally {
    await config.close();
  }
});
