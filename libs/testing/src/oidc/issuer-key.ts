import { constants, generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";

export type SigningAlgorithm = "RS256" | "PS256" | "ES256" | "ES384" | "EdDSA";

export interface IssuerKey {
  readonly id: string;
  readonly algorithm: SigningAlgorithm;
  /** As published in the key set (RFC 7517). */
  readonly publicJwk: Record<string, unknown>;
  readonly publicPem: string;
  /** Signs the given text (RFC 7515). */
  sign(text: string): Buffer;
}

/** Creates a key pair for one of the algorithms of RFC 7518 and RFC 8037. */
export function createIssuerKey(algorithm: SigningAlgorithm): IssuerKey {
  const { privateKey, publicKey } = generate(algorithm);
  const id = randomUUID();
  return {
    id,
    algorithm,
    publicJwk: { ...publicKey.export({ format: "jwk" }), kid: id, alg: algorithm, use: "sig" },
    publicPem: publicKey.export({ format: "pem", type: "spki" }) as string,
    sign: (text) => signText(algorithm, privateKey, text),
  };
}

function generate(algorithm: SigningAlgorithm): { privateKey: KeyObject; publicKey: KeyObject } {
  switch (algorithm) {
    case "ES256":
      return generateKeyPairSync("ec", { namedCurve: "P-256" });
    case "ES384":
      return generateKeyPairSync("ec", { namedCurve: "P-384" });
    case "EdDSA":
      return generateKeyPairSync("ed25519");
    default:
      return generateKeyPairSync("rsa", { modulusLength: 2048 });
  }
}

function signText(algorithm: SigningAlgorithm, key: KeyObject, text: string): Buffer {
  const bytes = Buffer.from(text);
  switch (algorithm) {
    case "ES256":
      return sign("sha256", bytes, { key, dsaEncoding: "ieee-p1363" });
    case "ES384":
      return sign("sha384", bytes, { key, dsaEncoding: "ieee-p1363" });
    case "EdDSA":
      return sign(null, bytes, key);
    case "PS256":
      return sign("sha256", bytes, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 });
    case "RS256":
      return sign("sha256", bytes, key);
  }
}
