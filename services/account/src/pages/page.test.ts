import assert from "node:assert/strict";
import { test } from "node:test";
import { serverProperties } from "@signalbox/contracts/properties";
import { contrastOf, textColorOn } from "./page.ts";

test("contrasts are those of WCAG", () => {
  assert.equal(contrastOf("#000000", "#ffffff"), 21);
  assert.equal(contrastOf("#ffffff", "#ffffff"), 1);
  assert.equal(contrastOf("#767676", "#ffffff").toFixed(2), "4.54");
});

test("text on any colour that a deployment may choose has a contrast of 4.5 to 1 at least", () => {
  const steps = Array.from({ length: 18 }, (_, step) => (step * 15).toString(16).padStart(2, "0"));
  for (const red of steps) {
    for (const green of steps) {
      for (const blue of steps) {
        const color = `#${red}${green}${blue}`;
        assert.ok(contrastOf(color, textColorOn(color)) >= 4.5, color);
      }
    }
  }
});

test("a colour is six hexadecimal digits, and a logo is an https or an image's data URL of bounded length", () => {
  const passes = (name: keyof typeof serverProperties, value: string) =>
    new RegExp(`^(?:${(serverProperties[name] as { pattern: string }).pattern})$`, "u").test(value);
  for (const color of ["#0b57d0", "#FFFFFF"]) assert.ok(passes("server.color", color), color);
  for (const color of ["red", "#fff", "#0b57d0;}", "#0b57d0ff", ""]) assert.ok(!passes("server.color", color), color);
  for (const logo of [
    "https://cdn.example/logo.svg",
    "https://cdn.example:8443/a/b.png?v=2",
    `data:image/svg+xml;base64,${"A".repeat(8000)}`,
  ]) {
    assert.ok(passes("server.logo-url", logo), logo.slice(0, 60));
  }
  for (const logo of [
    "http://cdn.example/logo.svg",
    "https://user:password@cdn.example/logo.svg",
    "https://cdn.example/a;script-src *",
    "https://cdn.example/a,b",
    "https://cdn.example/a b",
    'https://cdn.example/"onerror=',
    "data:text/html;base64,AAAA",
    `data:image/png;base64,${"A".repeat(8001)}`,
    `https://cdn.example/${"a".repeat(501)}`,
  ]) {
    assert.ok(!passes("server.logo-url", logo), logo.slice(0, 60));
  }
});
