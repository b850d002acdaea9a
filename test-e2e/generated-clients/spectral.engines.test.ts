import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { enginesFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { fetchOnce } from "@signalbox/infra/engines/fetch-once.ts";
import { mergedDocument, openApiDocuments } from "@signalbox/infra/generate/openapi/openapi-documents.ts";

const run = promisify(execFile);
const here = join(import.meta.dirname, "spectral");

/** Installs Spectral beside its program. It brings 150 packages, more than a clone needs to have. */
async function fetchSpectral(): Promise<string> {
  const files = ["package.json", "package-lock.json", "lint.mjs"].map((name) => join(here, name));
  const digest = createHash("sha256");
  for (const file of files) digest.update(await readFile(file));
  const folder = join(enginesFolder, `spectral-${digest.digest("hex").slice(0, 12)}`);
  await fetchOnce(folder, async (into) => {
    await cp(here, into, { recursive: true });
    await run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: into });
  });
  return join(folder, "lint.mjs");
}

test("Spectral's rules for OpenAPI find no error in any document", async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "signalbox-spectral-"));
  stack.defer(() => rm(folder, { recursive: true }));
  const documents = [["all", await mergedDocument()] as const, ...(await openApiDocuments())];
  for (const [name, document] of documents) await writeFile(join(folder, `${name}.json`), JSON.stringify(document));
  const files = documents.map(([name]) => `${name}.json`);
  const { stdout } = await run(process.execPath, [await fetchSpectral(), ...files], { cwd: folder });
  assert.equal(stdout, "");
});
