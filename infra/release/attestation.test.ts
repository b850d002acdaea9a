import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createPublicKey, verify } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { attest, newSigningKey, openSigningKey, predicates, provenance, verifyAttestation } from "./attestation.ts";

const run = promisify(execFile);
const passphrase = "correct horse battery staple";
const pair = newSigningKey(passphrase);
const privateKey = openSigningKey(pair.privatePem, passphrase);
const publicKey = createPublicKey(pair.publicPem);
const image = { name: "registry.example/signalbox", sha256: "ab".repeat(32) };
const build = {
  repository: "https://git.example/signalbox",
  commit: "c".repeat(40),
  recipe: "infra/docker/Dockerfile",
  parameters: { version: "1.2.3" },
  materials: [{ name: "package-lock.json", sha256: "12".repeat(32) }],
  builder: "https://builds.example",
  finishedAt: new Date("2027-01-31T12:00:00Z"),
};
const envelope = attest([image], predicates.provenance, provenance(build), privateKey);

test("an attestation names the artifact, the commit, the recipe and what went in, as SLSA has them", () => {
  const { predicateType, predicate, subject } = verifyAttestation(envelope, image, publicKey);
  assert.equal(predicateType, "https://slsa.dev/provenance/v1");
  assert.deepEqual(subject, [{ name: image.name, digest: { sha256: image.sha256 } }]);
  assert.deepEqual(predicate, {
    buildDefinition: {
      buildType: "https://git.example/signalbox#infra/docker/Dockerfile",
      externalParameters: { repository: build.repository, recipe: build.recipe, version: "1.2.3" },
      resolvedDependencies: [
        { uri: "git+https://git.example/signalbox", digest: { gitCommit: build.commit } },
        { uri: "package-lock.json", digest: { sha256: "12".repeat(32) } },
      ],
    },
    runDetails: { builder: { id: "https://builds.example" }, metadata: { finishedOn: "2027-01-31T12:00:00.000Z" } },
  });
});

test("the signature is over the bytes that the specification of DSSE gives", () => {
  const payload = Buffer.from(envelope.payload, "base64").toString();
  const signed = Buffer.from(`DSSEv1 28 application/vnd.in-toto+json ${Buffer.byteLength(payload)} ${payload}`);
  assert.ok(verify("sha256", signed, publicKey, Buffer.from(envelope.signatures[0]?.sig ?? "", "base64")));
});

test("another artifact, another key, a changed payload and another type are refused", () => {
  const other = { ...image, sha256: "cd".repeat(32) };
  assert.throws(
    () => verifyAttestation(envelope, other, publicKey),
    /it is about registry\.example\/signalbox, not cdcd/,
  );
  const stranger = createPublicKey(newSigningKey(passphrase).publicPem);
  assert.throws(() => verifyAttestation(envelope, image, stranger), /not that of the key [0-9a-f]{64}/);
  const payload = Buffer.from(envelope.payload, "base64").toString().replace("1.2.3", "1.2.4");
  const changed = { ...envelope, payload: Buffer.from(payload).toString("base64") };
  assert.throws(() => verifyAttestation(changed, image, publicKey), /the signature is not that/);
  assert.throws(
    () => verifyAttestation({ ...envelope, payloadType: "text/plain" }, image, publicKey),
    /no DSSE envelope/,
  );
  assert.throws(() => verifyAttestation({ ...envelope, signatures: [] }, image, publicKey), /no DSSE envelope/);
});

test("the private key opens with its passphrase alone", () => {
  assert.match(pair.privatePem, /ENCRYPTED PRIVATE KEY/);
  assert.throws(() => openSigningKey(pair.privatePem, "another"), /SIGNING_PASSPHRASE does not open/);
});

test("the command makes a key once, signs a release and verifies every archive of it", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-attest-"));
  t.after(() => rm(folder, { recursive: true }));
  const attestCommand = (...args: readonly string[]) =>
    run(process.execPath, [join(import.meta.dirname, "attest.ts"), ...args], {
      env: { ...process.env, SIGNING_PASSPHRASE: passphrase },
    });
  await attestCommand("new-key", folder);
  assert.equal((await stat(join(folder, "signalbox.key"))).mode & 0o777, 0o600);
  await assert.rejects(attestCommand("new-key", folder), /EEXIST/);

  const key = openSigningKey(await readFile(join(folder, "signalbox.key"), "utf8"), passphrase);
  const sums = join(folder, "SHA256SUMS");
  await writeFile(sums, `${"ab".repeat(32)}  a.tgz\n${"cd".repeat(32)}  b.tgz\n`);
  const subjects = [
    { name: "a.tgz", sha256: "ab".repeat(32) },
    { name: "b.tgz", sha256: "cd".repeat(32) },
  ];
  const signed = join(folder, "provenance.dsse.json");
  const verifyAll = () => attestCommand("verify", sums, "--key", join(folder, "signalbox.pub"), signed);
  await writeFile(signed, JSON.stringify(attest(subjects, predicates.provenance, provenance(build), key)));
  assert.match((await verifyAll()).stdout, /provenance\/v1 of a\.tgz\n.*provenance\/v1 of b\.tgz\n/);
  await writeFile(sums, `${"ab".repeat(32)}  a.tgz\n${"ef".repeat(32)}  b.tgz\n`);
  await assert.rejects(verifyAll(), /it is about a\.tgz, b\.tgz, not efef/);
  await assert.rejects(attestCommand("sign", "signalbox@latest", "--key", "x"), /usage/);
});
