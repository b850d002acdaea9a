import { constants, createHmac, createPublicKey, type KeyObject, verify } from "node:crypto";

/** A token in its compact form (RFC 7515 §7.1), parsed and not verified. */
export interface Token {
  readonly algorithm: Algorithm;
  /** Key id in the token; null without one. */
  readonly keyId: string | null;
  /** Its chain of certificates (RFC 7515 §4.1.6), unread. */
  readonly chain: unknown;
  readonly claims: Readonly<Record<string, unknown>>;
  /** The bytes that the signature covers. */
  readonly signed: Buffer;
  readonly signature: Buffer;
}

/** A key of a key set, as published. */
type PublishedKey = Readonly<Record<string, unknown>>;

interface Algorithm {
  readonly name: string;
  /** `oct`: an HMAC with a shared secret. */
  readonly type: "RSA" | "EC" | "OKP" | "oct";
  /** Null for a type without curves. */
  readonly curve: string | null;
  readonly hash: "sha256" | "sha384" | "sha512" | null;
  readonly options: object;
}

const rsa = (name: string, hash: Algorithm["hash"], options: object): Algorithm => ({
  name,
  type: "RSA",
  curve: null,
  hash,
  options,
});
const pss = (saltLength: number) => ({ padding: constants.RSA_PKCS1_PSS_PADDING, saltLength });
const ec = (name: string, curve: string, hash: Algorithm["hash"]): Algorithm => ({
  name,
  type: "EC",
  curve,
  hash,
  options: { dsaEncoding: "ieee-p1363" },
});
const edwards = (name: string): Algorithm => ({ name, type: "OKP", curve: "Ed25519", hash: null, options: {} });

const shared = (name: string, hash: Algorithm["hash"]): Algorithm => ({
  name,
  type: "oct",
  curve: null,
  hash,
  options: {},
});

/** Accepted algorithms of shared secrets (RFC 7518 §3.2). */
const sharedAlgorithms = [shared("HS256", "sha256"), shared("HS384", "sha384"), shared("HS512", "sha512")] as const;

/** Accepted algorithms (RFC 7518, RFC 8037): public keys only, or a published key would be a shared secret. */
const publicAlgorithms: readonly Algorithm[] = [
  ...[rsa("RS256", "sha256", {}), rsa("RS384", "sha384", {}), rsa("RS512", "sha512", {})],
  ...[rsa("PS256", "sha256", pss(32)), rsa("PS384", "sha384", pss(48)), rsa("PS512", "sha512", pss(64))],
  ...[ec("ES256", "P-256", "sha256"), ec("ES384", "P-384", "sha384"), ec("ES512", "P-521", "sha512")],
  ...[edwards("EdDSA"), edwards("Ed25519")],
];

const rsaBitsMin = 2_048;
/** Largest number of keys of one id that are tried: each costs a verification. */
const triedMax = 4;
const keysMax = 100;

/**
 * Reads a compact token strictly, signed with public keys or with a shared secret; returns null for any other text, and
 * for an unsupported token.
 */
export function readToken(text: string, keys: "public" | "shared" = "public"): Token | null {
  const parts = text.split(".");
  const [header, claims, signature] = parts.map(readBase64Url);
  if (parts.length !== 3 || !header || !claims || !signature) return null;
  const [head, body] = [readObject(header.toString("utf8")), readObject(claims.toString("utf8"))];
  const algorithms = keys === "public" ? publicAlgorithms : sharedAlgorithms;
  const algorithm = algorithms.find(({ name }) => name === head?.alg);
  const keyId = head?.kid ?? null;
  const isUnderstood = head && !("crit" in head) && (keyId === null || typeof keyId === "string");
  if (!isUnderstood || !body || !algorithm) return null;
  const signed = Buffer.from(text.slice(0, text.lastIndexOf(".")));
  return { algorithm, keyId, chain: head.x5c, claims: body, signed, signature };
}

/** Reads a key set (RFC 7517 §5); returns null for any other text, and for an empty set. */
export function readKeySet(text: string): readonly PublishedKey[] | null {
  const keys = text.startsWith("{") ? readObject(text)?.keys : null;
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > keysMax) return null;
  return keys.filter((key) => typeof key === "object" && key !== null);
}

/** Returns the keys of a set that fit the token's algorithm and key id. */
export function fittingKeys(keys: readonly PublishedKey[], { algorithm, keyId }: Token): KeyObject[] {
  const fitting = keys.filter(
    ({ kid, kty, crv, use = "sig", alg = algorithm.name }) =>
      (keyId === null || kid === keyId) &&
      kty === algorithm.type &&
      (algorithm.curve === null || crv === algorithm.curve) &&
      use === "sig" &&
      alg === algorithm.name,
  );
  return fitting
    .slice(0, triedMax)
    .map(publicKeyOf)
    .filter((key) => key !== null);
}

export function isSignedBy({ algorithm, signed, signature }: Token, key: KeyObject): boolean {
  try {
    return verify(algorithm.hash, signed, { key, ...algorithm.options }, signature);
  } catch {
    return false;
  }
}

/** Returns the signature that a shared secret makes over a token. */
export const sharedSignature = ({ algorithm, signed }: Token, secret: string): Buffer =>
  createHmac(algorithm.hash ?? "sha256", secret)
    .update(signed)
    .digest();

function publicKeyOf({ kty, n, e, crv, x, y }: PublishedKey): KeyObject | null {
  try {
    const members = Object.entries({ kty, n, e, crv, x, y }).filter(([, value]) => typeof value === "string");
    const key = createPublicKey({ key: Object.fromEntries(members), format: "jwk" });
    const { modulusLength = rsaBitsMin } = key.asymmetricKeyDetails ?? {};
    return modulusLength >= rsaBitsMin ? key : null;
  } catch {
    return null;
  }
}

/** Reads base 64 in the URL alphabet, in its one canonical spelling (RFC 4648 §3.5). */
function readBase64Url(text: string): Buffer | null {
  const bytes = Buffer.from(text, "base64url");
  return text !== "" && bytes.toString("base64url") === text ? bytes : null;
}

function readObject(json: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}
