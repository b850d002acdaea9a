import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto";
import { z } from "zod";

/**
 * Attestations in the form that supply-chain tools read: a statement of in-toto about artifacts, in a DSSE envelope signed by the
 * key of the house (ECDSA P-256, as cosign makes and reads it).
 */
export const predicates = {
  provenance: "https://slsa.dev/provenance/v1",
  bill: "https://cyclonedx.org/bom",
} as const;

/** An artifact that a statement is about. */
export interface Subject {
  readonly name: string;
  readonly sha256: string;
}

/** A build: from which commit, by which recipe, out of what. */
export interface Build {
  readonly repository: string;
  readonly commit: string;
  readonly recipe: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** Further inputs, such as the lock file and the base image. */
  readonly materials: readonly Subject[];
  readonly builder: string;
  readonly finishedAt: Date;
}

/** Describes the origin of artifacts as SLSA does. */
export function provenance(build: Build): object {
  return {
    buildDefinition: {
      buildType: `${build.repository}#${build.recipe}`,
      externalParameters: { repository: build.repository, recipe: build.recipe, ...build.parameters },
      resolvedDependencies: [
        { uri: `git+${build.repository}`, digest: { gitCommit: build.commit } },
        ...build.materials.map(({ name, sha256 }) => ({ uri: name, digest: { sha256 } })),
      ],
    },
    runDetails: { builder: { id: build.builder }, metadata: { finishedOn: build.finishedAt.toISOString() } },
  };
}

const payloadType = "application/vnd.in-toto+json";
const statementType = "https://in-toto.io/Statement/v1";

const Envelope = z.object({
  payloadType: z.literal(payloadType),
  payload: z.base64(),
  signatures: z.array(z.object({ keyid: z.string(), sig: z.base64() })).min(1),
});
type Envelope = z.infer<typeof Envelope>;
const Statement = z.object({
  _type: z.literal(statementType),
  subject: z.array(z.object({ name: z.string(), digest: z.object({ sha256: z.string() }) })).min(1),
  predicateType: z.string(),
  predicate: z.looseObject({}),
});
type Statement = z.infer<typeof Statement>;

/** Signs a statement about artifacts. */
export function attest(
  subjects: readonly Subject[],
  predicateType: string,
  predicate: object,
  key: KeyObject,
): Envelope {
  const statement = {
    _type: statementType,
    subject: subjects.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType,
    predicate,
  };
  const payload = Buffer.from(JSON.stringify(statement));
  const sig = sign("sha256", preAuthenticationEncoding(payload), key).toString("base64");
  // The name of a key is a hint that each tool computes in its own way; one that differs would be taken for another key.
  return { payloadType, payload: payload.toString("base64"), signatures: [{ keyid: "", sig }] };
}

/**
 * Reads a statement after its signature and its subject were verified.
 *
 * @throws Error that names what does not hold
 */
export function verifyAttestation(given: unknown, subject: Subject, key: KeyObject): Statement {
  const envelope = Envelope.safeParse(given);
  if (!envelope.success) throw new Error(`it is no DSSE envelope of in-toto: ${z.prettifyError(envelope.error)}`);
  const payload = Buffer.from(envelope.data.payload, "base64");
  const signed = preAuthenticationEncoding(payload);
  const isSigned = envelope.data.signatures.some(({ sig }) =>
    verify("sha256", signed, key, Buffer.from(sig, "base64")),
  );
  if (!isSigned) throw new Error(`the signature is not that of the key ${keyIdOf(key)}`);
  const statement = Statement.parse(JSON.parse(payload.toString()));
  const named = statement.subject.find(({ digest }) => digest.sha256 === subject.sha256);
  if (!named)
    throw new Error(`it is about ${statement.subject.map(({ name }) => name).join(", ")}, not ${subject.sha256}`);
  return statement;
}

/** The bytes that DSSE signs: type and payload with their lengths, so that neither can pass for the other. */
function preAuthenticationEncoding(payload: Buffer): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

/** Names a public key by its hash. */
const keyIdOf = (key: KeyObject): string =>
  createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("hex");

/** Makes a signing key: the private half encrypted with a passphrase, the public half to hand out. */
export function newSigningKey(passphrase: string): { readonly privatePem: string; readonly publicPem: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    privatePem: privateKey.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase }).toString(),
    publicPem: publicKey.export({ type: "spki", format: "pem" }).toString(),
  };
}

/** Opens the private half. @throws Error when the passphrase is not that of the key */
export function openSigningKey(privatePem: string, passphrase: string): KeyObject {
  try {
    return createPrivateKey({ key: privatePem, passphrase });
  } catch (cause) {
    throw new Error("SIGNING_PASSPHRASE does not open the signing key", { cause });
  }
}
