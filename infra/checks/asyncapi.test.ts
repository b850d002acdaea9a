import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { parse } from "yaml";
import { root } from "../generate/repository.ts";

const { validate, document } = await published();

/** What the AsyncAPI initiative publishes for its version 3.0, and what we publish. */
async function published() {
  const definition = fileURLToPath(import.meta.resolve("@asyncapi/specs/schemas/3.0.0-without-$id.json"));
  // Keywords of the definition's own, such as its examples, are no concern of ours; formats are held by our own tests.
  const ajv = new Ajv({ strict: false, validateFormats: false });
  return {
    validate: ajv.compile(JSON.parse(await readFile(definition, "utf8"))),
    document: parse(await readFile(join(root, "docs/reference/asyncapi.yaml"), "utf8")),
  };
}

test("the AsyncAPI document is one by the definition of its version", () => {
  validate(document);
  assert.deepEqual(validate.errors ?? [], []);
});

test("the definition does look: a server without a protocol, and a channel's message that is none, are found", () => {
  const { protocol: _, ...server } = document.servers.open;
  assert.equal(validate({ ...document, servers: { open: server } }), false);
  assert.equal(validate({ ...document, channels: { one: { messages: "none" } } }), false);
});

test("every way to sign in of a server is declared", () => {
  const declared = Object.keys(document.components.securitySchemes);
  const named = document.servers.secured.security.map(({ $ref }: { $ref: string }) => $ref.split("/").at(-1));
  assert.deepEqual(new Set(named), new Set(declared));
});
