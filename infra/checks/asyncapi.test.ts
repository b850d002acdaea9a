import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { parse } from "yaml";
import { root } from "../generate/repository.ts";

const { validate, document } = await published();

/** Reads the AsyncAPI initiative's schema of version 3.0, and our document. */
async function published() {
  const definition = fileURLToPath(import.meta.resolve("@asyncapi/specs/schemas/3.0.0-without-$id.json"));
  // Keywords of the schema's own, such as its examples, are ignored; formats are checked by our own tests.
  const ajv = new Ajv({ strict: false, validateFormats: false });
  return {
    validate: ajv.compile(JSON.parse(await readFile(definition, "utf8"))),
    document: parse(await readFile(join(root, "docs/reference/asyncapi.yaml"), "utf8")),
  };
}

test("the AsyncAPI document is valid by the schema of its version", () => {
  validate(document);
  assert.deepEqual(validate.errors ?? [], []);
});

test("the schema detects faults: a server without a protocol, and an invalid message of a channel", () => {
  const { protocol: _, ...server } = document.servers.open;
  assert.equal(validate({ ...document, servers: { open: server } }), false);
  assert.equal(validate({ ...document, channels: { one: { messages: "none" } } }), false);
});

test("every authentication method of a server is declared", () => {
  const declared = Object.keys(document.components.securitySchemes);
  const named = document.servers.secured.security.map(({ $ref }: { $ref: string }) => $ref.split("/").at(-1));
  assert.deepEqual(new Set(named), new Set(declared));
});
