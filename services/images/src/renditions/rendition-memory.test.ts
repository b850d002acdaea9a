import assert from "node:assert/strict";
import { test } from "node:test";
import { createRenditionMemory } from "./rendition-memory.ts";

test("no more bytes are kept than allowed, and the least recently used go first", () => {
  const memory = createRenditionMemory({ bytesMax: 320 });
  for (let index = 0; index < 32; index++) memory.add(`k${index}`, Buffer.alloc(10, index));
  assert.equal(memory.get("k0")?.[0], 0);
  memory.add("new", Buffer.alloc(10));
  assert.equal(memory.get("k1"), undefined);
  assert.ok(memory.get("k0"));
  assert.ok(memory.get("new"));
});

test("a rendition that would evict many others is not kept", () => {
  const memory = createRenditionMemory({ bytesMax: 320 });
  memory.add("large", Buffer.alloc(11));
  assert.equal(memory.get("large"), undefined);
  assert.equal(memory.takes(10), true);
  assert.equal(memory.takes(11), false);
});

test("without memory nothing is kept", () => {
  const memory = createRenditionMemory({ bytesMax: 0 });
  memory.add("k", Buffer.alloc(1));
  assert.equal(memory.get("k"), undefined);
});
