import assert from "node:assert/strict";
import { test } from "node:test";
import { camelCase, serviceNames } from "@signalbox/core";
import { Ajv2020 } from "ajv/dist/2020.js";
import { accountStates, mayAccess } from "../access/account-state.ts";
import { eventJsonSchema } from "../documents/json-schema.ts";
import { accountExample } from "../resources/account.ts";
import { displayName } from "../resources/fields.ts";
import { deadLetterTopic, findTopic, topics } from "../topics/topics.ts";
import { draft, draftProblems, type EventDraft } from "./draft.ts";
import { catalogue, dataSchemaOf, eventOf, eventType, findEvent, parseEventType } from "./event-catalogue.ts";
import { type SubscriptionDeclaration, subscriptions } from "./subscriptions.ts";
import { topicAccess } from "./topic-access.ts";

/** CONTRACT §9, the events of service clients (like those of API keys), and the events between services. */
const promised =
  `account.created account.updated account.settings_updated account.contact_verified account.status_changed
  account.deleted api_key.created api_key.updated api_key.revoked service_client.created
   service_client.updated service_client.revoked invitation.created invitation.accepted invitation.revoked member.invited member.joined member.role_changed member.left image.created image.updated image.deleted image.erased image.rendition_ready
   application.created application.updated application.deleted passkey.created passkey.updated passkey.deleted
   sign_in.succeeded sign_in.refused sign_in.ended step_up.passed consent.granted
   image.processing_failed image.render_requested image.rendered config.changed config.applied flag.changed webhook_source.created
  webhook_source.updated webhook_source.deleted webhook_endpoint.created webhook_endpoint.updated
  webhook_endpoint.deleted webhook_endpoint.failing webhook_endpoint.disabled webhook_endpoint.enabled
  webhook_delivery.exhausted webhook_delivery.recovered webhook_delivery.parked webhook_delivery.attempted webhook_event.published
  webhook_event_type.downgraded
  webhook.received webhook.rejected access.changed audit.recorded account.canary_changed config.canary_changed`.split(
    /\s+/,
  );

test("the catalogue holds every event of the contract, each once", () => {
  assert.deepEqual(catalogue.map(({ name }) => name).sort(), [...promised].sort());
});

for (const event of catalogue) {
  test(`the example of ${event.name} is a valid draft that fits its published JSON Schema`, () => {
    const example = { name: event.name, subject: "x", accountId: null, data: event.example } as EventDraft;
    assert.deepEqual(draftProblems(example), []);
    const ajv = new Ajv2020({ strict: false, formats: { "date-time": true } });
    assert.equal(ajv.validate(eventJsonSchema(event), event.example), true, ajv.errorsText());
  });

  test(`${event.name} survives JSON on its declared topic`, () => {
    assert.ok(findTopic(event.topic));
    assert.deepEqual(JSON.parse(JSON.stringify(event.example)), event.example);
  });
}

test("no event carries a secret", () => {
  const secret = /secret|password|token|digest|private_key/;
  for (const event of catalogue) {
    const names = Object.keys((eventJsonSchema(event).properties ?? {}) as object);
    // The list of an endpoint's live secrets shows their ids and times alone; an algorithm is no token.
    const harmless = ["secrets", "id_token_signed_response_alg"];
    const suspects = names.filter((name) => secret.test(name) && !harmless.includes(name));
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

test("only a type with its version reads back", () => {
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

test("state topics are compacted in one partition, so that a reader knows when it has seen every key", () => {
  for (const name of ["signalbox.access.v1", "signalbox.config.v1"]) {
    assert.deepEqual([findTopic(name)?.partitions, findTopic(name)?.cleanup], [1, "compact"]);
  }
});

test("a dead letter of the largest message still fits its topic", () => {
  const largest = Math.max(...catalogue.map(({ topic }) => findTopic(topic)?.maxMessageBytes ?? 0));
  assert.ok((findTopic(deadLetterTopic("images"))?.maxMessageBytes ?? 0) > largest);
  assert.equal(new Set(topics.map(({ name }) => name)).size, topics.length);
});

const writersOf = (topic: string): string[] =>
  topicAccess.filter(({ writes }) => writes.includes(topic)).map(({ service }) => service);

test("only account writes access states", () => {
  assert.deepEqual(writersOf("signalbox.access.v1"), ["account"]);
});

test("every service has a row", () => {
  assert.deepEqual(topicAccess.map(({ service }) => service).toSorted(), serviceNames.toSorted());
});

test("the owner of a topic writes it", () => {
  // The reports of all instances are on a topic that config reads: it owns their processing.
  const owned = topics.filter(({ name }) => name !== "signalbox.config-applied.v1");
  for (const { name, owner } of owned) assert.ok(writersOf(name).includes(owner), name);
});

test("only audit, configuration reports and dead letters have more than one writer", () => {
  const shared = topics.filter(({ name }) => writersOf(name).length > 1).map(({ name }) => name);
  const ofWorker = "signalbox.image-worker.dead-letters.v1";
  assert.deepEqual(shared, ["signalbox.audit.v1", "signalbox.config-applied.v1", ofWorker]);
});

const kept = (name: unknown) => displayName.safeParse(name).data;
const assertGood = (names: readonly string[]) => {
  for (const name of names) assert.equal(kept(name), name, JSON.stringify(name));
};
const assertBad = (names: readonly string[]) => {
  for (const name of names) assert.equal(kept(name), undefined, JSON.stringify(name));
};

test("a name has 1–100 characters as people count them", () => {
  assertGood([
    "A",
    "0",
    "false",
    "null",
    "x".repeat(100),
    "😀".repeat(100),
    "Ada Byron",
    "Ærøskøbing",
    "李小龙",
    "עדה",
  ]);
  assertBad(["", "x".repeat(101), "😀".repeat(101)]);
});

test("a name is kept trimmed, in one Unicode form", () => {
  assert.equal(kept(" \u00A0Ada\u3000Byron\t\n"), "Ada\u3000Byron");
  assert.equal(kept("Jo\u0308rg"), "Jörg");
  assert.equal(kept(` ${"x".repeat(100)} `), "x".repeat(100));
});

test("a name can be seen", () => {
  assertGood(["?", "…", "💡", "१"]);
  assertBad([" ", "\u2800", "\u2800 \u2800", "\u0301", "\u3164", "\u115F", "\u200B", "\u2060", "\u00AD", "\uFEFF"]);
});

test("a name has no invisible or direction-changing characters", () => {
  const hidden = ["Ad\u200Ba", "soft\u00ADhyphen", "Ada\u2060", "\u200EAda", "Ada\u{E0061}", "A\uFE0Fda", "\u034FAda"];
  assertBad([...hidden, "a\u202Eb", "a\u2066b", "a\u0000b", "a\nb", "\u007FAda", "a\u0085b", "a\u2028b", "x\ud800"]);
});

test("a joiner, ZWJ or ZWNJ, is allowed only within a word or an emoji", () => {
  assertGood(["می\u200Cخواهم", "ශ්\u200Dරී", "👩\u200D💻", "Ada ❤\uFE0F"]);
  assertBad(["\u200DAda", "Ada\u200C", "Ada \u200DByron", "Ada\u200C Byron", "a\u200D\u200Cb", "a\u200C-b"]);
});

const declarations: readonly [string, SubscriptionDeclaration][] = Object.entries(subscriptions);

/** The names of changed members, as the graph has them. */
const inGraph = (changed: unknown) => ((changed ?? []) as readonly string[]).map(camelCase);

/** The payload of each subscription for the example of its events, without the id of the resource. */
const payloads = {
  accountChanged: ({ id, account_id, changed }: Data) => ({
    account: entity("Account", account_id ?? id),
    changed: inGraph(changed),
  }),
  imageChanged: ({ id, changed }: Data, name: string) => ({
    imageId: id,
    image: name === "image.deleted" ? null : entity("Image", id),
    changed: inGraph(changed),
  }),
  webhookReceived: ({ received_id, delivery_id, event_type }: Data) => ({
    receivedWebhook: entity("ReceivedWebhook", received_id),
    deliveryId: delivery_id,
    eventType: event_type,
    replayed: false,
    changed: [],
  }),
  webhookRejected: ({ source_id, id, ...data }: Data) => ({
    source: entity("WebhookSource", source_id),
    rejectionId: id,
    ...Object.fromEntries(Object.entries(data).map(([name, value]) => [camelCase(name), value])),
    changed: [],
  }),
  deliveryAttempted: ({ endpoint_id, delivery_id, event_type, number, outcome, status, error, duration_ms }: Data) => ({
    endpoint: entity("WebhookEndpoint", endpoint_id),
    endpointId: endpoint_id,
    deliveryId: delivery_id,
    eventType: event_type,
    number,
    outcome,
    status,
    error,
    durationMs: duration_ms,
    changed: [],
  }),
  eventPublished: ({ id, type, count }: Data) => ({ eventId: id, eventType: type, count, changed: [] }),
  configChanged: ({ property, revision }: Data) => ({ revision, changed: [property] }),
};

type Data = Readonly<Record<string, unknown>>;
const entity = (type: string, id: unknown) => ({ __typename: type, id });

for (const [field, declaration] of declarations) {
  for (const name of declaration.events) {
    test(`${field}: every member of the payload is in the record of ${name}`, () => {
      const { example: data, audience } = eventOf(name);
      const payload = declaration.payloadOf({ name, data });
      assert.deepEqual(payload, payloads[field as keyof typeof payloads](data, name));
      assert.ok(!Object.values(payload ?? {}).includes(undefined));
      const { only } = declaration;
      if (only) assert.equal(typeof only.idOf(data as Data), "string", "an id to be narrowed to");
      const audiences = "scope" in declaration.access ? ["account", "internal"] : ["operator"];
      assert.ok(audiences.includes(audience), "events reach their own audience only");
    });
  }

  test(`${field} ignores other events`, () => {
    const data = eventOf("account.deleted").example;
    assert.equal(declaration.payloadOf({ name: "account.deleted", data }), null);
  });

  test(`${field} has its declared name; a suspended account loses it`, () => {
    assert.equal(declaration.field, field);
    const { access } = declaration;
    if (!("scope" in access)) return;
    const open = accountStates.filter((state) => mayAccess(state, access.access));
    assert.deepEqual(open, ["pending", "active"]);
  });
}

test("a change that names no audience is for operators", () => {
  const { access } = subscriptions.configChanged;
  assert.equal("audienceOf" in access && access.audienceOf({ property: "limits.maxPageSize" }), "operator");
});
