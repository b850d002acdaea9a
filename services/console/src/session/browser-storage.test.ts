import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { tabStorage } from "./browser-storage.ts";

const had = Object.getOwnPropertyDescriptor(globalThis, "sessionStorage");
afterEach(() => {
  if (had) Object.defineProperty(globalThis, "sessionStorage", had);
  else Reflect.deleteProperty(globalThis, "sessionStorage");
});

/** A storage of the browser as a test wants it. */
const provide = (get: () => unknown) =>
  Object.defineProperty(globalThis, "sessionStorage", { configurable: true, get });

test("in a frame that may not use the storage a text lives as long as the page", () => {
  provide(() => {
    throw new DOMException("Access is denied for this document.", "SecurityError");
  });
  assert.equal(tabStorage.get("draft"), null);
  tabStorage.set("draft", "typed");
  assert.deepEqual([tabStorage.get("draft"), tabStorage.keys()], ["typed", ["draft"]]);
  tabStorage.remove("draft");
  assert.deepEqual([tabStorage.get("draft"), tabStorage.keys()], [null, []]);
});

test("a text that a full storage does not take replaces the one that it has", () => {
  const texts = new Map([["draft", "old"]]);
  const full = () => {
    throw new DOMException("The quota has been exceeded.", "QuotaExceededError");
  };
  provide(() => ({ getItem: (key: string) => texts.get(key) ?? null, setItem: full, removeItem: () => {} }));
  tabStorage.set("draft", "new");
  assert.equal(tabStorage.get("draft"), "new");
  tabStorage.remove("draft");
});
