import type { PropertyDeclaration } from "@signalbox/runtime";
import fc from "fast-check";

const odd = [
  ...["", " ", "x", "\u202e", "<b>en</b>", "en-aa-bb", "pt-br", "image/x"],
  ...["https://h ost/", "https://h:99999/", "https://h", "http://[::1]:1/ü?#"],
];

// Built once: both are slow to build.
const text = fc.oneof(fc.string({ unit: "grapheme" }), fc.webUrl());
const json = fc.jsonValue();

/** Generates values of a property's type, and others that a person or a program might send. */
export function valuesOf({
  type,
  choices = [],
  default: usual,
  min = 0,
  max = 10,
}: PropertyDeclaration): fc.Arbitrary<unknown> {
  const word = fc.oneof(fc.constantFrom(...odd, ...choices), text);
  const number = fc.oneof(fc.integer({ min, max }), fc.double(), fc.constantFrom(min, max, -0, -1, 0.5, 2 ** 53));
  const own = { string: word, integer: number, number, boolean: fc.boolean(), list: fc.array(word, { maxLength: 4 }) };
  return fc.oneof({ weight: 6, arbitrary: own[type] }, fc.constantFrom(usual, null), json);
}
