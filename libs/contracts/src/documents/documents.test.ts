import assert from "node:assert/strict";
import test from "node:test";
import { catalogue, eventType, matchesEventType, receivedAlias, webhookEventTypes } from "../catalogue.ts";
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
    for (const field of Object.keys(eventJsonSchema(event).properties ?? {})) {
      assert.match(section, new RegExp(`(?:\\n\\| |\\n(?:Also|Fields:) .*)\`${field}\\??\``), eventType(event));
    }
  }
});

test("the reference describes a field once for the events that have it alike", () => {
  assert.equal(reference.split("\n| `alt_text` |").length, 2);
  assert.match(reference, /^\| `previous_status` .*\(in `status_changed`\)/m);
});

test("the reference shows a nullable member as its type or null", () => {
  assert.match(reference, /^\| `alt_text` \| string or null \|/m);
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
  assert.equal(matchesEventType("image.created", "image.created.more"), false);
  assert.equal(matchesEventType("received.stripe.*", receivedAlias("stripe", "invoice.paid")), true);
});
