import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fetchGoProgram, runWithInput } from "../engines/go-program.ts";
import { attest, newSigningKey, openSigningKey, predicates } from "./attestation.ts";

test("the library of other supply-chain tools verifies our envelopes, and no changed one", async (t) => {
  const program = await fetchGoProgram({
    name: "dsse-0.11.1",
    source: join(import.meta.dirname, "envelope/main.go"),
    module: "github.com/secure-systems-lab/go-securesystemslib@v0.11.1",
  });
  const folder = await mkdtemp(join(tmpdir(), "signalbox-envelope-"));
  t.after(() => rm(folder, { recursive: true }));
  const { privatePem, publicPem } = newSigningKey("passphrase");
  const file = join(folder, "signalbox.pub");
  await writeFile(file, publicPem);

  const subject = { name: "registry.example/signalbox", sha256: "ab".repeat(32) };
  const bill = { bomFormat: "CycloneDX", specVersion: "1.6", version: 1, components: [] };
  const envelope = attest([subject], predicates.bill, bill, openSigningKey(privatePem, "passphrase"));
  const verified = async (given: object) => JSON.parse(await runWithInput(program, [file], JSON.stringify(given)));
  assert.deepEqual(await verified(envelope), {
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name: subject.name, digest: { sha256: subject.sha256 } }],
    predicateType: "https://cyclonedx.org/bom",
    predicate: bill,
  });
  const changed = Buffer.from(envelope.payload, "base64").toString().replace("abab", "acab");
  await assert.rejects(
    verified({ ...envelope, payload: Buffer.from(changed).toString("base64") }),
    /accepted signatures/,
  );
});
