import { createHmac, createPublicKey, generateKeyPairSync, type JsonWebKey, sign } from "node:crypto";
import type { OidcIssuer } from "@signalbox/testing";

type Json = Readonly<Record<string, unknown>>;
type Forgery = (tools: Tools) => string;

/** The tools of tokens, valid and forged. */
export interface Tools {
  /** Signs with the issuer's key. */
  good(claims?: Json, header?: Json): string;
  /** Signs as specified, or not at all. */
  encoded(header: Json, claims: Json, sign: (text: string) => Buffer): string;
  /** The claims of a valid token. */
  readonly claims: Json;
  readonly jwk: JsonWebKey & { readonly kid: string };
  readonly pem: string;
  readonly ours: ReturnType<typeof ownKey>;
}

const seconds = () => Math.floor(Date.now() / 1000);
const day = 86_400;

/** Correctly signed claims that no access token for this audience has. */
const wrongClaims: Readonly<Record<string, () => Json>> = {
  "that has expired": () => ({ exp: seconds() - 600 }),
  "without an end": () => ({ exp: undefined }),
  "whose end is a text": () => ({ exp: String(seconds() + 600) }),
  "whose end is null": () => ({ exp: null }),
  "whose end is in the year 275760": () => ({ exp: 8.64e12 }),
  "that lives for two days": () => ({ exp: seconds() + 2 * day }),
  "that lives for two days and does not say since when": () => ({ iat: undefined, exp: seconds() + 2 * day }),
  "that begins in an hour": () => ({ nbf: seconds() + 3_600 }),
  "issued in an hour": () => ({ iat: seconds() + 3_600, exp: seconds() + 4_000 }),
  "for nobody": () => ({ aud: undefined }),
  "for another audience": () => ({ aud: "somebody-else" }),
  "for a list of other audiences": () => ({ aud: ["a", "b"] }),
  "for an audience that begins as ours": () => ({ aud: "signalbox.evil.example" }),
  "for our audience in capitals": () => ({ aud: "SIGNALBOX" }),
  "for an object as audience": () => ({ aud: { signalbox: true } }),
  "of no issuer": () => ({ iss: undefined }),
  "of another issuer": () => ({ iss: "https://evil.example" }),
  "of an issuer that is a list": () => ({ iss: ["https://evil.example"] }),
  "of the built-in issuer": () => ({ iss: "signalbox" }),
  "about nobody": () => ({ sub: undefined }),
  "about an empty subject": () => ({ sub: "" }),
  "about a number": () => ({ sub: 7 }),
  "about a list": () => ({ sub: ["a"] }),
  "about a subject with U+0000": () => ({ sub: "a\0b" }),
  "about half a surrogate pair": () => ({ sub: "\ud800" }),
  "about a subject of a kilobyte": () => ({ sub: "x".repeat(1_024) }),
  "with the nonce of an ID token": () => ({ nonce: "n-0S6_WzA2Mj" }),
  "with the at_hash of an ID token": () => ({ at_hash: "MTIzNDU2Nzg5MDEyMzQ1Ng" }),
  "with the c_hash of an ID token": () => ({ c_hash: "MTIzNDU2Nzg5MDEyMzQ1Ng" }),
  "with the s_hash of an ID token": () => ({ s_hash: "MTIzNDU2Nzg5MDEyMzQ1Ng" }),
  "bound to a key by DPoP": () => ({ cnf: { jkt: "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I" } }),
  "bound to a certificate": () => ({ cnf: { "x5t#S256": "bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2" } }),
  "with an empty binding": () => ({ cnf: null }),
  "that tells of an event": () => ({ events: { "http://schemas.openid.net/event/backchannel-logout": {} } }),
  "that calls itself an ID token": () => ({ typ: "ID" }),
  "that calls itself a refresh token": () => ({ typ: "Refresh" }),
  "that calls itself an offline token": () => ({ typ: "Offline" }),
  "that calls itself a logout token": () => ({ typ: "Logout" }),
  "whose type is a list": () => ({ typ: ["Bearer"] }),
  "used as an ID token": () => ({ token_use: "id" }),
  "used as a refresh token": () => ({ token_use: "refresh" }),
};

/** Correctly signed headers that no access token for this audience has. */
const wrongHeaders: Readonly<Record<string, Json>> = {
  "of the type of logout tokens": { typ: "logout+jwt" },
  "of the type of DPoP proofs": { typ: "dpop+jwt" },
  "of the type of security events": { typ: "secevent+jwt" },
  "of the type of ID tokens": { typ: "id_token+jwt" },
  "of the type of an encrypted token": { typ: "JWE" },
  "with an unknown critical extension": { crit: ["exp2"], exp2: 1 },
  "whose payload is not encoded": { b64: false, crit: ["b64"] },
  "under an id that no key has": { kid: "no-such-key" },
  "under the id ../../../../dev/null": { kid: "../../../../dev/null" },
  "under the id ' or '1'='1": { kid: "' or '1'='1" },
  "under the id __proto__": { kid: "__proto__" },
};

/** Variants of a valid token's text. */
const spellings: Readonly<Record<string, (token: string) => string>> = {
  "padded with =": (token) => `${token}=`,
  "padded in its header": (token) => token.replace(".", "=."),
  "with a part more": (token) => `${token}.e30`,
  "with an empty part more": (token) => `${token}.`,
  "without its last character": (token) => token.slice(0, -1),
  "without half of its signature": (token) => token.slice(0, -170),
  "without its signature": (token) => token.slice(0, token.lastIndexOf(".") + 1),
  "without its signature and the last dot": (token) => token.slice(0, token.lastIndexOf(".")),
  "written twice": (token) => `${token},${token}`,
  "with unused bits set in its last character": (token) => token.slice(0, -1) + nextCharacter(token.at(-1) ?? "A"),
  "in the alphabet of plain base64": (token) => `${token.replaceAll("-", "+").replaceAll("_", "/")}==`,
  "in small letters": (token) => token.toLowerCase(),
  "with its parts turned round": (token) => token.split(".").reverse().join("."),
  "in quotes": (token) => `"${token}"`,
};

/** Tokens with an invalid signature, or one by another key. */
const forgeries: Readonly<Record<string, Forgery>> = {
  ...Object.fromEntries(
    ["none", "None", "NONE", "nOnE", ""].flatMap((alg) => [
      [`unsigned as "${alg}"`, ({ encoded, claims }: Tools) => encoded({ alg, typ: "at+jwt" }, claims, noSignature)],
      [
        `unsigned as "${alg}" under a real id`,
        ({ encoded, claims, jwk }: Tools) => encoded({ alg, kid: jwk.kid }, claims, noSignature),
      ],
    ]),
  ),
  ...Object.fromEntries(
    ["256", "384", "512"].flatMap((bits) => [
      [`signed with HS${bits} and the public key as PEM`, hmacWith(bits, ({ pem }) => pem)],
      [`signed with HS${bits} and the public key as PEM without a line break`, hmacWith(bits, ({ pem }) => pem.trim())],
      [`signed with HS${bits} and the public key as JWK`, hmacWith(bits, ({ jwk }) => JSON.stringify(jwk))],
      [`signed with HS${bits} and the modulus`, hmacWith(bits, ({ jwk }) => Buffer.from(jwk.n ?? "", "base64url"))],
      [`signed with HS${bits} and an empty secret`, hmacWith(bits, () => "")],
    ]),
  ),
  "signed by another key under a real id": ({ encoded, claims, jwk, ours }) =>
    encoded({ alg: "RS256", kid: jwk.kid, typ: "at+jwt" }, claims, ours.sign),
  "signed by another key under no id": ({ encoded, claims, ours }) =>
    encoded({ alg: "RS256", typ: "at+jwt" }, claims, ours.sign),
  "signed by the key that it brings along": ({ encoded, claims, ours }) =>
    encoded({ alg: "RS256", typ: "at+jwt", jwk: ours.jwk }, claims, ours.sign),
  "signed by the key that it brings along under a real id": ({ encoded, claims, jwk, ours }) =>
    encoded({ alg: "RS256", kid: jwk.kid, jwk: ours.jwk }, claims, ours.sign),
  "signed by a key at an address that it names": ({ encoded, claims, ours }) =>
    encoded(
      { alg: "RS256", kid: "k", jku: "http://127.0.0.1:9/keys", x5u: "http://127.0.0.1:9/keys" },
      claims,
      ours.sign,
    ),
  "with an ECDSA signature of zeros": ({ encoded, claims, jwk }) =>
    encoded({ alg: "ES256", kid: jwk.kid }, claims, () => Buffer.alloc(64)),
  "with an RSA signature of zeros": ({ encoded, claims, jwk }) =>
    encoded({ alg: "RS256", kid: jwk.kid }, claims, () => Buffer.alloc(256)),
  "with an RSA signature of one": ({ encoded, claims, jwk }) =>
    encoded({ alg: "RS256", kid: jwk.kid }, claims, () => Buffer.from([...new Uint8Array(255), 1])),
  "whose claims were changed": ({ good, claims }) => withPart(good(), 1, { ...claims, sub: "somebody-else" }),
  "whose role was changed": ({ good, claims }) =>
    withPart(good({ roles: ["viewer"] }), 1, { ...claims, roles: ["admin"] }),
  "whose algorithm was changed": ({ good, jwk }) => withPart(good(), 0, { alg: "PS256", kid: jwk.kid, typ: "at+jwt" }),
  "with the signature of another token": ({ good }) =>
    [...good().split(".").slice(0, 2), good({ jti: "other" }).split(".")[2]].join("."),
};

/** Builds every token that must be refused, by its defect. Each claims a victim with all rights. */
export async function jwtForgeries(issuer: OidcIssuer, victim: Json): Promise<ReadonlyMap<string, string>> {
  const tools = await toolsOf(issuer, victim);
  const made = [
    ...Object.entries(wrongClaims).map(([what, claims]) => [what, tools.good(claims())] as const),
    ...Object.entries(wrongHeaders).map(([what, header]) => [what, tools.good({}, header)] as const),
  ];
  return new Map([...made, ...forgedTokens(tools)]);
}

/** Builds the tokens that the issuer has not signed, whatever their purpose. */
export function forgedTokens(tools: Tools): ReadonlyMap<string, string> {
  return new Map([
    ...Object.entries(spellings).map(([what, spell]) => [what, spell(tools.good())] as const),
    ...Object.entries(forgeries).map(([what, forge]) => [what, forge(tools)] as const),
  ]);
}

/** Opens the tools for an issuer's tokens; each token carries these claims besides its own. */
export async function toolsOf(issuer: OidcIssuer, victim: Json): Promise<Tools> {
  const { keys } = (await (await fetch(`${issuer.issuer}/keys`)).json()) as { keys: [Tools["jwk"]] };
  const [jwk] = keys;
  const always = { iss: issuer.issuer, aud: issuer.audience, iat: seconds(), exp: seconds() + 600, ...victim };
  return {
    good: (claims, header) =>
      issuer.sign(
        { ...victim, jti: crypto.randomUUID(), ...claims },
        { expiresInSeconds: 600, ...(header && { header }) },
      ),
    encoded,
    claims: always,
    jwk,
    pem: createPublicKey({ key: jwk, format: "jwk" }).export({ format: "pem", type: "spki" }) as string,
    ours: ownKey(),
  };
}

function ownKey() {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return {
    jwk: publicKey.export({ format: "jwk" }),
    sign: (text: string) => sign("sha256", Buffer.from(text), privateKey),
  };
}

function encoded(header: Json, claims: Json, signed: (text: string) => Buffer): string {
  const text = [header, claims].map(encodedPart).join(".");
  return `${text}.${signed(text).toString("base64url")}`;
}

function hmacWith(bits: string, key: (tools: Tools) => string | Buffer): Forgery {
  return (tools) =>
    tools.encoded({ alg: `HS${bits}`, kid: tools.jwk.kid, typ: "at+jwt" }, tools.claims, (text) =>
      createHmac(`sha${bits}`, key(tools)).update(text).digest(),
    );
}

const withPart = (token: string, index: number, part: Json): string =>
  token.split(".").with(index, encodedPart(part)).join(".");
const encodedPart = (part: Json): string => Buffer.from(JSON.stringify(part)).toString("base64url");
const noSignature = () => Buffer.alloc(0);

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/** In the last character of 256 bytes four bits are unused. */
const nextCharacter = (character: string): string => alphabet[alphabet.indexOf(character) ^ 1] ?? "";
