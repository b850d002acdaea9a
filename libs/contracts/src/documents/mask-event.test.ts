import assert from "node:assert/strict";
import test from "node:test";
import { catalogue, eventOf } from "../catalogue/event-catalogue.ts";
import { maskEventData } from "./mask-event.ts";

test("an operator sees the facts of an event, but no text that a person wrote", () => {
  const example = eventOf("image.created").example as Record<string, unknown>;
  const shown = maskEventData("image.created", { ...example, title: "Our wedding" }) as Record<string, unknown>;
  assert.equal(shown.id, example.id);
  assert.equal(shown.status, example.status);
  assert.equal(shown.created_at, example.created_at);
  assert.equal(shown.title, "****** (11 characters)");
});

test("the values of an override are shown unless its property is sensitive", () => {
  const { example } = eventOf("config.changed");
  const value = (secrecy: string) =>
    (maskEventData("config.changed", { ...example, value: "Harbour", secrecy }) as { value: unknown }).value;
  assert.deepEqual(["public", "internal", "sensitive"].map(value), ["Harbour", "Harbour", "****** (7 characters)"]);
});

test("an unknown message is masked whole, whatever its form", () => {
  const body = { any: ["secret", 7, true, null], deep: { "Ada Byron": "sbx_live_1234567890abcdef" } };
  assert.deepEqual(maskEventData(null, body), {
    any: ["****** (6 characters)", 7, true, null],
    deep: { "******": "****** (25 characters)" },
  });
});

test("no event of the catalogue shows an address of a person or a URL", () => {
  for (const { name, example } of catalogue) {
    assert.doesNotMatch(JSON.stringify(maskEventData(name, example)), /@|https?:/, name);
  }
});
