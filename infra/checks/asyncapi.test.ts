import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { asyncApiDocument } from "@signalbox/contracts";
import { Ajv } from "ajv";
import { parse } from "yaml";
import { root } from "../generate/repository.ts";

/** The document in the repository refers to the files of the schemas; the one that the gateway serves has them in it. */
const path = join(root, "docs/reference/asyncapi.yaml");
const document = parse(await readFile(path, "utf8"));
const served = JSON.parse(JSON.stringify(asyncApiDocument()));
const validate = await compileDefinition();

/** Compiles the AsyncAPI initiative's schema of version 3.0. */
async function compileDefinition() {
  const definition = fileURLToPath(import.meta.resolve("@asyncapi/specs/schemas/3.0.0-without-$id.json"));
  // Keywords of the schema's own, such as its examples, are ignored; formats are checked by our own tests.
  const ajv = new Ajv({ strict: false, validateFormats: false });
  return ajv.compile(JSON.parse(await readFile(definition, "utf8")));
}

for (const [which, one] of Object.entries({ "in the repository": document, "that is served": served })) {
  test(`the AsyncAPI document ${which} is valid by the schema of its version`, () => {
    validate(one);
    assert.deepEqual(validate.errors ?? [], []);
  });
}

test("with the files that it refers to, the document in the repository is the one that is served", async () => {
  const messages: Record<string, unknown> = {};
  for (const [type, message] of Object.entries<AsyncApiMessage>(document.components.messages)) {
    const [file = "", pointer = ""] = message.payload.schema.$ref.split("#/");
    const { $schema, ...schema } = JSON.parse(await readFile(join(dirname(path), file), "utf8"))[pointer];
    const headers = { ce_type: type, ce_dataschema: schema.$id };
    const examples = schema.examples.map((payload: unknown) => ({ headers, payload }));
    messages[type] = { ...message, payload: { ...message.payload, schema }, examples };
  }
  assert.deepEqual({ ...document, components: { ...document.components, messages } }, served);
});

interface AsyncApiMessage {
  readonly payload: { readonly schema: { readonly $ref: string } };
}

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
