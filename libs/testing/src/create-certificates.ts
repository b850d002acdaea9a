import { generateKeyPair } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export interface TestCertificates {
  readonly folder: string;
  /** Certificate of the authority that signed the others. */
  readonly caFile: string;
  /** Certificate of `localhost`. */
  readonly certFile: string;
  readonly keyFile: string;
  /** Certificate of an authority that signed none of them. */
  readonly otherCaFile: string;
  /** Issues another certificate of the authority, for a name; valid since yesterday, for two more days by default. */
  issue(
    name: string,
    options?: { readonly endsAt?: Date },
  ): Promise<{ readonly certFile: string; readonly keyFile: string }>;
  remove(): Promise<void>;
}

interface Identity {
  readonly name: string;
  readonly privateKey: string;
}

/** Creates a certificate authority and its certificate for `localhost`, valid for two days. */
export async function createCertificates(): Promise<TestCertificates> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-certificates-"));
  const [ca, other] = await Promise.all([createAuthority(folder, "ca"), createAuthority(folder, "other-ca")]);

  async function issue(name: string, { endsAt }: { readonly endsAt?: Date } = {}) {
    const { privateKey, publicKey } = await newKeys();
    const files = { certFile: join(folder, `${name}.pem`), keyFile: join(folder, `${name}.key`) };
    const san = { name: "subjectAltName", altNames: [{ type: dnsName, value: name }] };
    await writeFile(
      files.certFile,
      await certificate({ name, publicKey, issuer: ca.identity, extensions: [san], endsAt }),
    );
    await writeFile(files.keyFile, privateKey);
    return files;
  }

  const server = await issue("localhost");
  const files = { folder, caFile: ca.file, otherCaFile: other.file, ...server };
  return { ...files, issue, remove: () => rm(folder, { recursive: true }) };
}

const dayMs = 24 * 60 * 60_000;
/** RFC 5280 §4.2.1.6: the kind of a subject alternative name that is a host. */
const dnsName = 2;

async function createAuthority(folder: string, name: string): Promise<{ identity: Identity; file: string }> {
  const { privateKey, publicKey } = await newKeys();
  const identity = { name, privateKey };
  const extensions = [{ name: "basicConstraints", cA: true, critical: true }];
  const file = join(folder, `${name}.pem`);
  await writeFile(file, await certificate({ name, publicKey, issuer: identity, extensions }));
  return { identity, file };
}

const newKeys = () =>
  promisify(generateKeyPair)("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });

interface NewCertificate {
  readonly name: string;
  readonly publicKey: string;
  readonly issuer: Identity;
  readonly extensions: object[];
  readonly endsAt?: Date | undefined;
}

async function certificate({ name, publicKey, issuer, extensions, endsAt }: NewCertificate): Promise<string> {
  // Loaded here because nearly every test imports this library, and few need a certificate.
  const { default: forge } = await import("node-forge");
  const made = forge.pki.createCertificate();
  made.publicKey = forge.pki.publicKeyFromPem(publicKey);
  // Positive, and its own for each certificate: clients refuse two of one issuer with one number.
  made.serialNumber = `01${crypto.randomUUID().replaceAll("-", "")}`;
  made.validity.notBefore = new Date(Date.now() - dayMs);
  made.validity.notAfter = endsAt ?? new Date(Date.now() + 2 * dayMs);
  made.setSubject([{ name: "commonName", value: name }]);
  made.setIssuer([{ name: "commonName", value: issuer.name }]);
  made.setExtensions(extensions);
  made.sign(forge.pki.privateKeyFromPem(issuer.privateKey), forge.md.sha256.create());
  return forge.pki.certificateToPem(made);
}
