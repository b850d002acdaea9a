import { createApiKey } from "@signalbox/auth";
import type { Headers } from "../../audit/world.ts";
import { type Client, type ClientRequest, createClient, expectStatus } from "../../journey/client.ts";
import type { Attack } from "../runner/attack.ts";
import { httpAttack, httpControl, plantedAnswer, refusedAs, succeeds, weakAnswers } from "../runner/http-attack.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";
import type { Group } from "./group.ts";

/** Credentials of each kind of defect, at every service: each has a door of its own to the one library that judges. */
export const credentials: Group = {
  name: "credentials",
  atOnce: 8,
  async rows(scenes) {
    const scene = await scenes.trusting();
    const { headers } = await scene.person({ roles: ["admin"] });
    const body = { name: "attacked", scopes: allScopes };
    const { key } = expectStatus(await scene.send("/api/account/api-keys/", { body, headers }), 201).json;
    const wrong = { ...wrongTokens(scene, headers), ...wrongKeys(key), ...(await endedCredentials(scene)) };
    return protectedRequests(scene).flatMap((target) => rowsAt(target, headers, key, wrong));
  },
};

const allScopes = [
  ...["account:read", "account:write", "account:security", "images:read"],
  ...["webhooks:read", "config:read", "env:read", "management:read"],
];

/** A request that a service answers to a caller with all rights only. */
interface ProtectedRequest {
  readonly name: string;
  readonly send: Client;
  readonly path: string;
  readonly request: ClientRequest;
}

/** One read in every service, one write, and the management of the processes. */
function protectedRequests({ system, send }: TrustingScene): readonly ProtectedRequest[] {
  const manage = createClient(system.managementUrls.get("account") ?? system.managementUrl);
  const target = (name: string, path: string, request: ClientRequest = {}) => ({ name, send, path, request });
  return [
    target("account", "/api/account/"),
    target("account, writing", "/api/account/", { method: "PATCH", body: {} }),
    target("images", "/images"),
    target("config", "/api/v1/config/"),
    target("config, environment", "/api/v1/env"),
    target("webhook-ingest", "/api/v1/webhooks/sources"),
    target("webhook-delivery", "/api/v1/webhooks/endpoints"),
    target("gateway", "/graphql", { body: { query: "{ viewer { id } }" } }),
    { ...target("management", "/management/env"), send: manage },
  ];
}

const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });
const basic = (text: string): Headers => ({ authorization: `Basic ${Buffer.from(text).toString("base64")}` });

/** Tokens that the issuer did not sign, or signed for something else. */
function wrongTokens({ issuer, tokenOf }: TrustingScene, headers: Headers): Record<string, Headers> {
  const forged = Object.entries(issuer.wrong).map(([flaw, make]) => [`a token that is ${flaw}`, bearer(make())]);
  return {
    ...Object.fromEntries(forged),
    "a token for another audience": bearer(tokenOf(headers, { aud: "somebody-else" })),
    "a token of another issuer": bearer(tokenOf(headers, { iss: "https://evil.example" })),
    "a token with the nonce of an ID token": bearer(tokenOf(headers, { nonce: "n-0S6_WzA2Mj" })),
    "a token as X-API-Key": { "x-api-key": (headers.authorization ?? "").replace("Bearer ", "") },
  };
}

/** Keys that differ from a good one, and the good one in wrong places. */
const wrongKeys = (key: string): Record<string, Headers> => ({
  "a key of nobody with good check digits": { "x-api-key": createApiKey("dev") },
  "a key of nobody as Bearer": bearer(createApiKey("dev")),
  "a key of nobody as Basic": basic(`user:${createApiKey("dev")}`),
  "a key without its last character": { "x-api-key": key.slice(0, -1) },
  "a key in a cookie": { cookie: `x-api-key=${key}; api_key=${key}; access_token=${key}` },
  "a key as X-Auth-Token": { "x-auth-token": key, "api-key": key, "x-access-token": key },
  "a key as Proxy-Authorization": { "proxy-authorization": `Bearer ${key}` },
  "a key as X-Forwarded-Authorization": { "x-forwarded-authorization": `Bearer ${key}` },
  "a key as the internal token": { "x-signalbox-internal-token": key },
  "a key under the scheme DPoP": { authorization: `DPoP ${key}` },
  "a key as the user name of Basic": basic(`${key}:`),
});

function rowsAt(
  target: ProtectedRequest,
  good: Headers,
  key: string,
  wrong: Readonly<Record<string, Headers>>,
): Attack[] {
  const { send, path, request } = target;
  const at = (headers: Headers) => ({
    send,
    path,
    request: { ...request, headers: { ...request.headers, ...headers } },
  });
  const controlWith = (what: string, headers: Headers) =>
    httpControl({ ...at(headers), what: `${target.name}: ${what}`, judge: succeeds });
  const byToken = controlWith("the good token itself", good);
  const byKey = controlWith("the good key itself", { "x-api-key": key });
  const rows = Object.entries(wrong).map(([what, headers]) =>
    httpAttack({
      ...at(headers),
      what: `${target.name}: ${what}`,
      must: "be refused as unauthorized",
      judge: refusedAs("unauthorized", "unauthenticated"),
      planted: [...weakAnswers, plantedAnswer(403, { error: { code: "forbidden" } })],
      control: what.startsWith("a token") ? byToken : byKey,
    }),
  );
  const two = httpAttack({
    ...at({ ...good, "x-api-key": key }),
    what: `${target.name}: a good token and a good key`,
    must: "be refused: the server must not choose between them",
    judge: refusedAs("invalid_request", "validation_failed", "unauthorized"),
    control: byKey,
  });
  return [...rows, two];
}

/** Credentials that were valid once. */
async function endedCredentials({ person, send, tokenOf, world }: TrustingScene): Promise<Record<string, Headers>> {
  const { headers } = await person();
  const body = { name: "ended", scopes: ["account:read"] };
  const make = async () => expectStatus(await send("/api/account/api-keys/", { headers, body }), 201).json;
  const [revoked, rotated, ended] = [await make(), await make(), await make()];
  await world.send(headers, `/api/account/api-keys/${revoked.id}`, { method: "DELETE" });
  await world.send(headers, `/api/account/api-keys/${rotated.id}/rotate`, { body: { overlap_seconds: 0 } });
  await world.send({ "x-api-key": ended.key }, "/api/account/current-api-key/", { method: "DELETE" });
  const leaver = await person();
  const before = tokenOf(leaver.headers, { iat: Math.floor(Date.now() / 1000) - 60 });
  await world.send(leaver.headers, "/api/account/sign-ins/", { method: "DELETE" });
  return {
    "a key that was revoked": { "x-api-key": revoked.key },
    "a key that was rotated away": { "x-api-key": rotated.key },
    "a key that has revoked itself": { "x-api-key": ended.key },
    "a token from before signing out everywhere": bearer(before),
  };
}
