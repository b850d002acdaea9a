/**
 * `npm run attest`: signs what a release or an image is made of and out of what, and verifies it.
 *
 *   new-key <folder>                                            makes signalbox.key and signalbox.pub
 *   sign <subject> --key <file> --repository <url> --builder <url> --to <folder> [--bill <file>] [--base <name@sha256:…>]
 *   verify <subject> --key <file> <attestation>…
 *
 * A subject is an image `name@sha256:…`, or the file SHA256SUMS of a release. SIGNING_PASSPHRASE opens the private key. A bill is
 * the contents of the image, a base the image below it; the builder names the machine or the service that builds.
 */
import { execFileSync } from "node:child_process";
import { createHash, createPublicKey } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { environment } from "@signalbox/config";
import { root } from "../generate/repository.ts";
import {
  attest,
  type Build,
  newSigningKey,
  openSigningKey,
  predicates,
  provenance,
  type Subject,
  verifyAttestation,
} from "./attestation.ts";

const usage = `usage: npm run attest -- new-key <folder>
                         sign <name@sha256:… | SHA256SUMS> --key signalbox.key --repository <url> --builder <url> --to <folder>
                              [--bill sbom.cdx.json] [--base <name@sha256:…>]
                         verify <name@sha256:… | SHA256SUMS> --key signalbox.pub <attestation>…
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    key: { type: "string" },
    to: { type: "string", default: "." },
    repository: { type: "string" },
    builder: { type: "string" },
    bill: { type: "string" },
    base: { type: "string" },
  },
});
const [task = "", subject = "", ...more] = positionals;
const tasks: Readonly<Record<string, () => Promise<void>>> = { "new-key": makeKey, sign: signAll, verify: verifyAll };

try {
  const run = tasks[task];
  const needed = { "new-key": [], sign: ["key", "repository", "builder"], verify: ["key"] } as const;
  const lacks = (needed[task as keyof typeof needed] ?? []).some((name) => !values[name]);
  if (!run || !subject || lacks) {
    process.stderr.write(usage);
    process.exitCode = 2;
  } else await run();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

async function makeKey(): Promise<void> {
  const { privatePem, publicPem } = newSigningKey(passphrase());
  await mkdir(subject, { recursive: true });
  // A key that is there stays: what it signed could not be verified any more.
  await writeFile(join(subject, "signalbox.key"), privatePem, { mode: 0o600, flag: "wx" });
  await writeFile(join(subject, "signalbox.pub"), publicPem, { flag: "wx" });
  process.stdout.write(`${resolve(subject, "signalbox.key")}\n${resolve(subject, "signalbox.pub")}\n`);
}

async function signAll(): Promise<void> {
  const key = openSigningKey(await readFile(values.key ?? "", "utf8"), passphrase());
  const subjects = await subjectsOf(subject);
  const statements: [string, string, object][] = [["provenance", predicates.provenance, provenance(await buildOf())]];
  if (values.bill) statements.push(["sbom", predicates.bill, JSON.parse(await readFile(values.bill, "utf8"))]);
  await mkdir(values.to, { recursive: true });
  for (const [name, type, predicate] of statements) {
    const path = resolve(values.to, `${name}.dsse.json`);
    await writeFile(path, `${JSON.stringify(attest(subjects, type, predicate, key))}\n`);
    process.stdout.write(`${path}\n`);
  }
}

async function verifyAll(): Promise<void> {
  const key = createPublicKey(await readFile(values.key ?? "", "utf8"));
  if (more.length === 0) throw new Error("name the attestations to verify");
  for (const file of more) {
    const envelope: unknown = JSON.parse(await readFile(file, "utf8"));
    for (const one of await subjectsOf(subject)) {
      const { predicateType } = verifyAttestation(envelope, one, key);
      process.stdout.write(`${file}: ${predicateType} of ${one.name}\n`);
    }
  }
}

/** The commit has to be checked in: another tree would be attested under its name. */
async function buildOf(): Promise<Build> {
  const git = (...args: readonly string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
  if (git("status", "--porcelain") !== "")
    throw new Error("Commit or put aside first: what is built has to be a commit.");
  const isImage = subject.includes("@sha256:");
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const lock = createHash("sha256")
    .update(await readFile(join(root, "package-lock.json")))
    .digest("hex");
  return {
    repository: values.repository ?? "",
    commit: git("rev-parse", "HEAD"),
    recipe: isImage ? "infra/docker/Dockerfile" : "infra/release/run.ts",
    parameters: { version },
    materials: [{ name: "package-lock.json", sha256: lock }, ...(values.base ? await subjectsOf(values.base) : [])],
    builder: values.builder ?? "",
    finishedAt: new Date(),
  };
}

async function subjectsOf(text: string): Promise<Subject[]> {
  const image = /^(?<name>[^\s@]+)@sha256:(?<sha256>[0-9a-f]{64})$/.exec(text)?.groups;
  if (image) return [{ name: image.name ?? "", sha256: image.sha256 ?? "" }];
  if (text.includes("@")) throw new Error(`${text} is no image: write name@sha256: and 64 digits`);
  const lines = (await readFile(text, "utf8")).trim().split("\n");
  return lines.map((line) => {
    const { name = "", sha256 = "" } = /^(?<sha256>[0-9a-f]{64}) {2}(?<name>\S+)$/.exec(line)?.groups ?? {};
    if (!name) throw new Error(`${text} has a line that is no sum: ${line}`);
    return { name, sha256 };
  });
}

function passphrase(): string {
  const given = environment().SIGNING_PASSPHRASE;
  if (!given) throw new Error("set SIGNING_PASSPHRASE, which encrypts the signing key");
  return given;
}
