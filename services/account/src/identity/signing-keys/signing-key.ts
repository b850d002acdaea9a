import { createHash, generateKeyPair as createKeyPair } from "node:crypto";
import { promisify } from "node:util";
import { hours, minutes } from "@signalbox/core";

/**
 * The algorithms that the issuer signs with: ID tokens with RS256, which every client takes (OpenID Connect Core
 * §15.1), access tokens and the ID tokens of applications that ask for it with ES256.
 */
const signingAlgorithms = ["ES256", "RS256"] as const;

export type SigningAlgorithm = (typeof signingAlgorithms)[number];

interface PublicMembers {
  readonly kid: string;
  readonly use: "sig";
}

/** A key of the elliptic curve P-256 as RFC 7518 §6.2.1 writes it. */
interface EllipticKey extends PublicMembers {
  readonly kty: "EC";
  readonly alg: "ES256";
  readonly crv: "P-256";
  readonly x: string;
  readonly y: string;
}

/** An RSA key as RFC 7518 §6.3.1 writes it. */
interface RsaKey extends PublicMembers {
  readonly kty: "RSA";
  readonly alg: "RS256";
  readonly n: string;
  readonly e: string;
}

type PublicJwk = EllipticKey | RsaKey;

/** Everything that RFC 7518 §6.2.2 and §6.3.2 add to a public key. */
const privateMembers = ["d", "p", "q", "dp", "dq", "qi"] as const;

export type PrivateJwk = PublicJwk & { readonly d: string };

/** A key pair that signs tokens from `activeFrom` until its successor does. */
export interface SigningKey {
  readonly privateJwk: PrivateJwk;
  readonly createdAt: Date;
  readonly activeFrom: Date;
  /** Time at which its successor starts to sign; null without one. */
  readonly retiredAt: Date | null;
}

/** A key is published this long before it signs: caches of our key set that live for less have it in time. */
const publishedAheadMs = hours(1);
/** Every token that a key signed has ended by then: ID tokens and access tokens live for an hour at most. */
const publishedAfterMs = hours(1) + minutes(10);

const generateKeyPair = promisify(createKeyPair);

/** Creates a key pair for an algorithm. Its `kid` is the thumbprint of RFC 7638. */
export async function newSigningKey(
  algorithm: SigningAlgorithm,
  createdAt: Date,
  activeFrom: Date,
): Promise<SigningKey> {
  const privateJwk = algorithm === "ES256" ? await ellipticJwk() : await rsaJwk();
  return { privateJwk, createdAt, activeFrom, retiredAt: null };
}

async function ellipticJwk(): Promise<PrivateJwk> {
  const { privateKey } = await generateKeyPair("ec", { namedCurve: "P-256" });
  const { x = "", y = "", d = "" } = privateKey.export({ format: "jwk" });
  const kid = thumbprint({ crv: "P-256", kty: "EC", x, y });
  return { kty: "EC", crv: "P-256", x, y, d, kid, alg: "ES256", use: "sig" };
}

async function rsaJwk(): Promise<PrivateJwk> {
  const { privateKey } = await generateKeyPair("rsa", { modulusLength: 2048 });
  const { n = "", e = "", d = "", ...factors } = privateKey.export({ format: "jwk" });
  return { ...factors, kty: "RSA", n, e, d, kid: thumbprint({ e, kty: "RSA", n }), alg: "RS256", use: "sig" };
}

/** `required` has its members in the order of RFC 7638 §3.3. */
const thumbprint = (required: object): string =>
  createHash("sha256").update(JSON.stringify(required)).digest("base64url");

export function publicJwkOf({ privateJwk }: SigningKey): PublicJwk {
  const isPublic = ([name]: [string, unknown]) => !privateMembers.some((one) => one === name);
  return Object.fromEntries(Object.entries(privateJwk).filter(isPublic)) as unknown as PublicJwk;
}

/** Returns the published keys, the signing one of each algorithm before its others. */
export function publishedKeys(keys: readonly SigningKey[], now: Date): readonly SigningKey[] {
  return signingAlgorithms.flatMap((algorithm) => {
    const newestFirst = keysFor(algorithm, keys)
      .filter((key) => !isOver(key, now))
      .sort((one, other) => other.activeFrom.getTime() - one.activeFrom.getTime());
    const signing = newestFirst.find(({ activeFrom }) => activeFrom <= now);
    if (!signing) return newestFirst;
    return [signing, ...newestFirst.filter((key) => key !== signing)];
  });
}

const keysFor = (algorithm: SigningAlgorithm, keys: readonly SigningKey[]): SigningKey[] =>
  keys.filter(({ privateJwk }) => privateJwk.alg === algorithm);

/** A key that has to be made. */
interface DueKey {
  readonly algorithm: SigningAlgorithm;
  readonly activeFrom: Date;
}

/**
 * Returns the keys to make, with the time at which each starts to sign: now where an algorithm has none, later where the
 * newest one becomes too old.
 */
export function dueKeys(keys: readonly SigningKey[], now: Date, rotationMs: number): readonly DueKey[] {
  return signingAlgorithms.flatMap((algorithm) => {
    const starts = keysFor(algorithm, keys).map(({ activeFrom }) => activeFrom.getTime());
    if (starts.length === 0) return [{ algorithm, activeFrom: now }];
    const isYoung = Math.max(...starts) + rotationMs > now.getTime() + publishedAheadMs;
    return isYoung ? [] : [{ algorithm, activeFrom: new Date(now.getTime() + publishedAheadMs) }];
  });
}

/** Returns true when every token that the key signed has ended. */
export function isOver({ retiredAt }: SigningKey, now: Date): boolean {
  return retiredAt !== null && retiredAt.getTime() + publishedAfterMs <= now.getTime();
}
