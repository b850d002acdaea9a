import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { readContent } from "./generator.ts";
import { generateClients } from "./generators/prisma-clients.ts";
import { root } from "./repository.ts";

test("the kept Prisma clients are what Prisma makes of the schemas, byte for byte", async () => {
  const kept = JSON.parse((await readContent(join(root, "infra/generate/prisma-clients.json.br"))) ?? "null");
  assert.deepEqual(kept.files, await generateClients());
});
