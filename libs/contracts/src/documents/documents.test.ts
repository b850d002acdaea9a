import assert from "node:assert/strict";
import test from "node:test";
import {
  catalogue,
  eventType,
  matchesEventType,
  receivedAlias,
  webhookEventTypes,
} from "../catalogue/event-catalogue.ts";
import { asyncApiDocument } from "./asyncapi.ts";
import { eventsReference } from "./events-reference.ts";
import { eventJsonSchema } from "./json-schema.ts";

const reference = eventsReference((type) => `schemas/${type}.json`);

test("every reference inside the AsyncAPI document leads somewhere", () => {
  const document = asyncApiDocument();
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => match[1] as string);
  assert.ok(references.length > catalogue.length);
  for (const reference of references) {
    const target = reference
      .split("/")
      .reduce<unknown>((node, part) => (node as Record<string, unknown> | undefined)?.[part], document);
    assert.ok(target, reference);
  }
});

test("the AsyncAPI document and the reference describe every event", () => {
  const messages = Object.keys((asyncApiDocument().components as { messages: object }).messages);
  assert.deepEqual(messages, catalogue.map(eventType));
  for (const type of catalogue.map(eventType)) {
    assert.ok(reference.includes(`\n- [\`${type}\`](schemas/${type}.json): `), type);
  }
});

test("the section that lists an event lists its fields", () => {
  const sections = reference.split("\n### ");
  for (const event of catalogue) {
    const section = sections.find((one) => one.includes(`\n- [\`${eventType(event)}\`]`)) ?? "";
    for (const field of Object.keys(eventJsonSchema(event).properties ?? {}))
      assert.match(section, new RegExp(`\\nFields.*: (.*, )?\`${field}\\??\``), eventType(event));
  }
});

test("the reference names the events of a field that not all of its family have", () => {
  assert.match(reference, /^Fields in `status_changed`: .*`previous_status`/m);
  assert.match(reference, /`replaces\?` \(always in `updated`\)/);
});

test("internal events are no webhook types", () => {
  const names = webhookEventTypes.map(({ name }) => name);
  assert.ok(names.includes("image.created") && names.includes("webhook.received"));
  for (const name of ["access.changed", "image.render_requested", "image.rendered", "config.applied"]) {
    assert.equal(names.includes(name), false, name);
  }
});

test("a filter is a name or a prefix", () => {
  assert.equal(matchesEventType("image.*", "image.created"), true);
  assert.equal(matchesEventType("image.*", "images.created"), false);
  assert.equal(matchesEventType("*", "order.created"), true);
  for (const short of ["*", "s*", "sign_in*"]) assert.equal(matchesEventType(short, "sign_in.refused"), false, short);
  assert.equal(matchesEventType("sign_in.*", "sign_in.refused"), true);
  assert.equal(matchesEventType("image.created", "image.created.more"), false);
  assert.equal(matchesEventType("received.stripe.*", receivedAlias("stripe", "invoice.paid")), true);
});
