import assert from "node:assert/strict";
import test from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { catalogue, dataSchemaOf, eventType, findEvent, parseEventType } from "./catalogue.ts";
import { eventJsonSchema } from "./documents/json-schema.ts";
import { draft, draftProblems, type EventDraft } from "./draft.ts";
import { accountExample } from "./resources/account.ts";
import { deadLetterTopic, findTopic, topics } from "./topics.ts";

/** CONTRACT §9, the events of service clients (like those of API keys), and the events between services. */
const promised =
  `account.created account.updated account.settings_updated account.contact_verified account.status_changed
  account.deleted api_key.created api_key.updated api_key.revoked service_client.created
   service_client.updated service_client.revoked image.created image.updated image.deleted image.erased image.rendition_ready
   image.processing_failed image.render_requested image.rendered config.changed config.applied flag.changed webhook_source.created
  webhook_source.updated webhook_source.deleted webhook_endpoint.created webhook_endpoint.updated
  webhook_endpoint.deleted webhook_endpoint.failing webhook_endpoint.disabled webhook_endpoint.enabled
  webhook_delivery.exhausted webhook_delivery.recovered webhook_delivery.parked webhook_delivery.attempted webhook_event.published
  webhook_event_type.downgraded
  webhook.received access.changed audit.recorded`.split(/\s+/);

test("the catalogue holds every event of the contract, each once", () => {
  assert.deepEqual(catalogue.map(({ name }) => name).sort(), [...promised].sort());
});

for (const event of catalogue) {
  test(`the example of ${event.name} is a valid draft and fits its published JSON Schema`, () => {
    const example = { name: event.name, subject: "x", accountId: null, data: event.example } as EventDraft;
    assert.deepEqual(draftProblems(example), []);
    const ajv = new Ajv2020({ strict: false, formats: { "date-time": true } });
    assert.equal(ajv.validate(eventJsonSchema(event), event.example), true, ajv.errorsText());
  });

  test(`${event.name} travels on a declared topic and survives JSON`, () => {
    assert.ok(findTopic(event.topic));
    assert.deepEqual(JSON.parse(JSON.stringify(event.example)), event.example);
  });
}

test("no event carries a secret", () => {
  const secret = /secret|password|token|digest|private_key/;
  for (const event of catalogue) {
    const names = Object.keys((eventJsonSchema(event).properties ?? {}) as object);
    // The list of an endpoint's live secrets shows their ids and times alone.
    const suspects = names.filter((name) => secret.test(name) && name !== "secrets");
    assert.deepEqual(suspects, [], event.name);
  }
});

test("a draft with a missing, wrong or undeclared member is named with the member", () => {
  const data = { ...accountExample, changed: [] };
  const problems = (changes: object) =>
    draftProblems(draft("account.created", { subject: "a", accountId: "a", data: { ...data, ...changes } }));
  assert.match(problems({ locale: undefined })[0] ?? "", /account\.created: locale: /);
  assert.match(problems({ status: "asleep" })[0] ?? "", /account\.created: status: /);
  assert.deepEqual(problems({ password_hash: "x" }), ["account.created: password_hash: not declared"]);
  assert.deepEqual(problems({ links: { ...data.links, internal: "x" } }), [
    "account.created: links.internal: not declared",
  ]);
});

test("a type with its version reads back, and nothing else is taken for one", () => {
  assert.deepEqual(parseEventType("api_key.created.v12"), { name: "api_key.created", version: 12 });
  for (const text of [
    "image.created",
    "image.created.v0",
    "image.created.v1x",
    "created.v",
    "v1",
    "Image.created.v1",
  ]) {
    assert.equal(parseEventType(text), null, text);
  }
  const event = findEvent("image.created");
  assert.ok(event);
  assert.equal(eventType(event), "image.created.v1");
  assert.equal(dataSchemaOf(event), "urn:signalbox:event:image.created.v1");
  assert.equal(findEvent("constructor"), undefined);
});

test("state topics have one partition and are compacted, so that a reader knows when it has seen every key", () => {
  for (const name of ["signalbox.access.v1", "signalbox.config.v1"]) {
    assert.deepEqual([findTopic(name)?.partitions, findTopic(name)?.cleanup], [1, "compact"]);
  }
});

test("a dead letter of the largest message still fits its topic", () => {
  const largest = Math.max(...catalogue.map(({ topic }) => findTopic(topic)?.maxMessageBytes ?? 0));
  assert.ok((findTopic(deadLetterTopic("images"))?.maxMessageBytes ?? 0) > largest);
  assert.equal(new Set(topics.map(({ name }) => name)).size, topics.length);
});
