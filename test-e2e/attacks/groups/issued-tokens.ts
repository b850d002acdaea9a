import { createHmac, createPublicKey, generateKeyPairSync, type JsonWebKey, sign } from "node:crypto";
import { createClient, expectStatus } from "../../journey/client.ts";
import type { Attack } from "../runner/attack.ts";
import { httpAttack, httpControl, plantedAnswer, refusedAs, succeeds, weakAnswers } from "../runner/http-attack.ts";
import type { IssuingScene, SignedIn } from "../scene/issuing-scene.ts";

type Json = Readonly<Record<string, unknown>>;

const routes = [
  ["account", "/api/account/"],
  ["config", "/api/v1/config/"],
  ["gateway", "/graphql"],
] as const;

const part = (value: Json): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const read = (token: string, index: number): Json =>
  JSON.parse(Buffer.from(token.split(".")[index] ?? "", "base64url").toString());
const noSignature = () => Buffer.alloc(0);

/** Tokens of the issuer that are not access tokens, at every kind of service. */
export async function issuedTokenRows(
  { send, system }: IssuingScene,
  { tokens, headers }: SignedIn,
): Promise<Attack[]> {
  const [jwk] = expectStatus(await createClient(system.baseUrl)("/oauth/jwks"), 200).json.keys as [JsonWebKey];
  const forged = forgeriesOf(tokens.access_token ?? "", jwk);
  const others = { "an ID token": tokens.id_token ?? "", "a refresh token": tokens.refresh_token ?? "" };
  return routes.flatMap(([name, path]) => {
    const request = name === "gateway" ? { body: { query: "{ viewer { id } }" } } : {};
    const control = httpControl({
      send,
      path,
      request: { ...request, headers: { ...headers } },
      what: `${name}: the token that was given`,
      judge: succeeds,
    });
    return Object.entries({ ...forged, ...others }).map(([what, token]) =>
      httpAttack({
        send,
        path,
        request: { ...request, headers: { authorization: `Bearer ${token}` } },
        control,
        what: `${name}: ${what}`,
        must: "be refused as unauthorized",
        judge: refusedAs("unauthorized", "unauthenticated"),
        planted: [...weakAnswers, plantedAnswer(403, { error: { code: "forbidden" } })],
      }),
    );
  });
}

/** Tokens with a valid token's claims, and with more permissions, under keys other than the issuer's. */
function forgeriesOf(token: string, jwk: JsonWebKey): Record<string, string> {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const [header, claims] = [read(token, 0), read(token, 1)];
  const [, , signature = ""] = token.split(".");
  const more = { ...claims, scope: "account:admin config:admin", roles: ["admin"] };
  const made = (head: Json, body: Json, signed: (text: string) => Buffer) => {
    const text = `${part(head)}.${part(body)}`;
    return `${text}.${signed(text).toString("base64url")}`;
  };
  const ours = (text: string) => sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" });
  const pem = createPublicKey({ key: jwk, format: "jwk" }).export({ format: "pem", type: "spki" }) as string;
  const hmac = (key: string) => (text: string) => createHmac("sha256", key).update(text).digest();
  return {
    "its claims with more scopes": `${part(header)}.${part(more)}.${signature}`,
    "its claims with another subject": `${part(header)}.${part({ ...claims, sub: "somebody-else" })}.${signature}`,
    "its claims with a later end": `${part(header)}.${part({ ...claims, exp: Number(claims.exp) + 60 })}.${signature}`,
    "its claims, not signed": made({ ...header, alg: "none" }, more, noSignature),
    "its claims, not signed and without an id": made({ alg: "none" }, more, noSignature),
    "its claims under another key": made(header, more, ours),
    "its claims under a key that comes along": made(
      { ...header, jwk: publicKey.export({ format: "jwk" }) },
      more,
      ours,
    ),
    "its claims under HS256 with the public key": made({ ...header, alg: "HS256" }, more, hmac(pem)),
    "its claims under HS256 with the key set": made({ ...header, alg: "HS256" }, more, hmac(JSON.stringify(jwk))),
    "its claims under zeros": made(header, more, () => Buffer.alloc(64)),
    "its header of another type": `${part({ ...header, typ: "JWT" })}.${token.split(".").slice(1).join(".")}`,
    "its signature changed": `${token.slice(0, -6)}AAAAAA`,
    "its signature left out": `${token.slice(0, token.lastIndexOf("."))}.`,
    "its signature padded": `${token}=`,
  };
}
