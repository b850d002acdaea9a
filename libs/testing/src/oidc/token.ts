import { createHmac } from "node:crypto";
import { createIssuerKey, type IssuerKey } from "./issuer-key.ts";

export type TokenClaims = Readonly<Record<string, unknown>>;
type TokenHeader = Readonly<Record<string, unknown>>;

export interface SignOptions {
  readonly expiresInSeconds?: number;
  readonly header?: TokenHeader;
}

/** Tokens that must be refused. */
export interface WrongTokens {
  /** `alg: none` and an empty signature. */
  unsigned(claims?: TokenClaims): string;
  /** Signed by an unpublished key, under the id of a published one. */
  foreignKey(claims?: TokenClaims): string;
  /** HS256 with our public key (PEM) as the shared secret: the algorithm confusion of RFC 8725 §2.1. */
  confused(claims?: TokenClaims): string;
  expired(claims?: TokenClaims): string;
  /** A valid token whose claims were changed after signing. */
  tampered(claims?: TokenClaims): string;
  truncated(claims?: TokenClaims): string;
}

interface Signing {
  readonly issuer: string;
  readonly audience: string;
  /** Returns the present signing key. */
  readonly key: () => IssuerKey;
}

/** Creates valid and wrong tokens of an issuer. */
export function createTestTokens({ issuer, audience, key }: Signing) {
  const complete = (claims: TokenClaims, expiresInSeconds = 300): TokenClaims => {
    const now = Math.floor(Date.now() / 1000);
    const standard = { iss: issuer, aud: audience, sub: "user-1", iat: now, exp: now + expiresInSeconds };
    return { ...standard, jti: crypto.randomUUID(), ...claims };
  };
  const sign = (claims: TokenClaims = {}, { expiresInSeconds, header }: SignOptions = {}): string =>
    signedToken(key(), complete(claims, expiresInSeconds), header);

  const wrong: WrongTokens = {
    unsigned: (claims = {}) => encodeToken({ alg: "none", typ: "at+jwt" }, complete(claims), noSignature),
    foreignKey: (claims = {}) => {
      const { algorithm, id } = key();
      return signedToken({ ...createIssuerKey(algorithm), id }, complete(claims));
    },
    confused: (claims = {}) => {
      const { id, publicPem } = key();
      return encodeToken({ alg: "HS256", kid: id, typ: "at+jwt" }, complete(claims), (text) =>
        signHmac(publicPem, text),
      );
    },
    expired: (claims = {}) => sign(claims, { expiresInSeconds: -3_600 }),
    tampered: (claims = {}) => {
      const [header, , signature] = sign(claims).split(".");
      const changed = complete({ ...claims, sub: "somebody-else" });
      return [header, encodeToken({}, changed, noSignature).split(".")[1], signature].join(".");
    },
    truncated: (claims = {}) => sign(claims).slice(0, -20),
  };
  return { sign, wrong };
}

function signedToken(key: IssuerKey, claims: TokenClaims, header: TokenHeader = {}): string {
  return encodeToken({ alg: key.algorithm, kid: key.id, typ: "at+jwt", ...header }, claims, (text) => key.sign(text));
}

/** Encodes a token in the compact serialization (RFC 7515 §7.1), even a nonsensical one. */
function encodeToken(header: TokenHeader, claims: TokenClaims, sign: (text: string) => Buffer): string {
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  return `${text}.${sign(text).toString("base64url")}`;
}

const noSignature = () => Buffer.alloc(0);

const signHmac = (secret: string, text: string): Buffer => createHmac("sha256", secret).update(text).digest();
