import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { catalogue, eventType } from "../catalogue/event-catalogue.ts";
import type { JsonSchema } from "./json-schema.ts";
import * as schemaRegistry from "./schema-registry.ts";

const baseUrl = "https://api.example.com/base";
const published = schemaRegistry.published(baseUrl);
const registry = schemaRegistry.registered(baseUrl);

const ajv = new Ajv2020({ strict: false, formats: { "date-time": true }, addUsedSchema: false });
const validate = (schema: JsonSchema, value: unknown): string | null =>
  ajv.validate(schema, value) ? null : ajv.errorsText();
const find = (subject: string): schemaRegistry.RegisteredSchema =>
  registry.find((one) => one.subject === subject) ?? assert.fail(subject);

test("every published schema has its address as id, with examples that fit", () => {
  assert.equal(published.size, catalogue.length + 1, "one for each event, and the envelope");
  for (const [path, schema] of published) {
    assert.equal(schema.$id, `${baseUrl}${path}`);
    const examples = schema.examples as unknown[];
    assert.ok(examples.length > 0, path);
    for (const example of examples) assert.equal(validate(schema, example), null, path);
  }
});

test("the envelope schema needs each member but takes a new one", () => {
  const schema = published.get("/schemas/envelope/v1.json") ?? assert.fail();
  const [whole] = schema.examples as Record<string, unknown>[];
  assert.equal(validate(schema, { ...whole, colour: "red" }), null);
  for (const name of ["id", "type", "created_at", "data", "api_version", "account_id"]) {
    assert.match(validate(schema, { ...whole, [name]: undefined }) ?? "", new RegExp(name));
  }
});

test("ids of the registry are derived from names, so that they never change", () => {
  const pinned = ["account.created", "image.created", "webhook.received", "signalbox.image.v1-value"].map((subject) => {
    const { version, id, guid } = find(subject);
    return [subject, version, id, guid];
  });
  assert.deepEqual(pinned, [
    ["account.created", 1, 759048864, "2a2b3b4e-2b39-325e-3a61-3c3a2e575b5f"],
    ["image.created", 1, 249556951, "2f593b6f-4737-556f-2141-262845236b60"],
    ["webhook.received", 1, 736267505, "3759303c-385e-2a7d-7e38-2c6c33327834"],
    ["signalbox.image.v1-value", 1, 551263249, "5f683945-694d-224d-376b-584e2b666f49"],
  ]);
  assert.equal(new Set(registry.map(({ id }) => id)).size, registry.length);
  assert.equal(new Set(registry.map(({ guid }) => guid)).size, registry.length);
  for (const { id } of registry) assert.ok(id > 0 && id < 2 ** 31);
});

test("the schema of a topic takes the values of its events alone", () => {
  for (const [topic, events] of Map.groupBy(catalogue, ({ topic }) => topic)) {
    const schema = JSON.parse(find(`${topic}-value`).schema);
    for (const { example, name } of events) assert.equal(validate(schema, example), null, name);
    assert.notEqual(validate(schema, { id: 7 }), null, topic);
  }
});

test("the text headers of a record lead every reader to its schema", () => {
  const headers = schemaRegistry.headers(baseUrl);
  for (const event of catalogue) {
    const { ce_dataschema: address, [schemaRegistry.idHeader]: id = "" } = headers.get(eventType(event)) ?? {};
    assert.equal(address, `${baseUrl}${schemaRegistry.pathOf(event)}`);
    assert.match(id.slice(1), /^[!-~]{16}$/);
    assert.equal(id.codePointAt(0), 1, "a GUID follows");
    const hex = Buffer.from(id.slice(1)).toString("hex");
    assert.equal(find(event.name).guid.replaceAll("-", ""), hex, "the GUID of the registry");
  }
});
