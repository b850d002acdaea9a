import type { Headers } from "../../audit/world.ts";
import { expectStatus } from "../../journey/client.ts";
import type { Attack } from "../runner/attack.ts";
import { httpAttack, httpControl, plantedAnswer, refusedAs, succeeds, weakAnswers } from "../runner/http-attack.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";
import type { Group } from "./group.ts";
import { jwtForgeries } from "./jwt-forgeries.ts";
import { keyForgeries } from "./key-forgeries.ts";
import { type ProtectedRequest, protectedRequests } from "./protected-requests.ts";

export const unknown = refusedAs("unauthorized", "unauthenticated");
const ambiguous = refusedAs("invalid_request", "validation_failed", "unauthorized");
const forbidden = plantedAnswer(403, { error: { code: "forbidden" } });

/** Every invalid credential, at every service. */
export const credentials: Group = {
  name: "credentials",
  atOnce: 8,
  async rows(scenes) {
    const scene = await scenes.trusting();
    const claims = { roles: ["admin"] };
    const victim = await scene.person(claims);
    const token = scene.tokenOf(victim.headers, claims);
    const body = {
      name: "attacked",
      scopes: [
        "account:read",
        "account:write",
        "account:security",
        "images:read",
        "webhooks:read",
        "config:read",
        "env:read",
        "management:read",
      ],
    };
    const key: string = expectStatus(await scene.send("/api/account/api-keys/", { body, headers: victim.headers }), 201)
      .json.key;
    const wrong = new Map<string, Headers>([
      ...[...(await jwtForgeries(scene.issuer, { sub: victim.subject, ...claims }))].map(
        ([what, forged]) => [`a token ${what}`, { authorization: `Bearer ${forged}` }] as const,
      ),
      ...keyForgeries(key),
      ["a good token as X-API-Key", { "x-api-key": token }],
      ...(await endedCredentials(scene)),
    ]);
    return protectedRequests(scene).flatMap((target) => rowsAt(target, { token, key, wrong }));
  },
};

interface Given {
  readonly token: string;
  readonly key: string;
  readonly wrong: ReadonlyMap<string, Headers>;
}

function rowsAt(target: ProtectedRequest, { token, key, wrong }: Given): Attack[] {
  const controlWith = (what: string, headers: Headers) =>
    httpControl({ ...at(target, headers), what: `${target.name}: ${what}`, judge: succeeds });
  const byToken = controlWith("the good token itself", { authorization: `Bearer ${token}` });
  const byKey = controlWith("the good key itself", { "x-api-key": key });
  const rows = [...wrong].map(([what, headers]) =>
    httpAttack({
      ...at(target, headers),
      what: `${target.name}: ${what}`,
      must: "be refused as unauthorized",
      judge: unknown,
      planted: [...weakAnswers, forbidden],
      control: what.startsWith("a token") ? byToken : byKey,
    }),
  );
  return [...rows, ...twoCredentials(target, token, key, byKey), ...inTheQuery(target, key, byKey)];
}

const at = ({ send, path, request }: ProtectedRequest, headers: Headers) => ({
  send,
  path,
  request: { ...request, headers: { ...request.headers, ...headers } },
});

type ByKey = Attack["control"];

/** Two credentials in one request are ambiguous, and the server must not choose between them. */
function twoCredentials(target: ProtectedRequest, token: string, key: string, control: ByKey): Attack[] {
  const pairs: Readonly<Record<string, Headers>> = {
    "a good token and a good key": { authorization: `Bearer ${token}`, "x-api-key": key },
    "a bad token and a good key": { authorization: "Bearer x.y.z", "x-api-key": key },
    "a good token and an empty key": { authorization: `Bearer ${token}`, "x-api-key": "" },
    "a key as Basic and as X-API-Key": {
      authorization: `Basic ${Buffer.from(`u:${key}`).toString("base64")}`,
      "x-api-key": key,
    },
  };
  return Object.entries(pairs).map(([what, headers]) =>
    httpAttack({
      ...at(target, headers),
      what: `${target.name}: ${what}`,
      must: "be refused",
      judge: ambiguous,
      control,
    }),
  );
}

const queryNames = [
  "access_token",
  "api_key",
  "apikey",
  "x-api-key",
  "token",
  "key",
  "Authorization",
  "authorization",
  "client_secret",
  "password",
];

/** Query strings end up in logs and histories. */
function inTheQuery(target: ProtectedRequest, key: string, control: ByKey): Attack[] {
  return queryNames.map((name) =>
    httpAttack({
      ...at({ ...target, path: `${target.path}?${name}=${key}` }, {}),
      what: `${target.name}: a good key in the query as ${name}`,
      must: "be refused, before anybody asks whose it is",
      judge: ambiguous,
      control,
    }),
  );
}

/** Credentials that were valid once. */
async function endedCredentials({ person, send, tokenOf, world }: TrustingScene): Promise<[string, Headers][]> {
  const { headers } = await person();
  const make = async () =>
    expectStatus(
      await send("/api/account/api-keys/", { headers, body: { name: "ended", scopes: ["account:read"] } }),
      201,
    ).json;
  const [revoked, rotated, ended] = [await make(), await make(), await make()];
  await world.send(headers, `/api/account/api-keys/${revoked.id}`, { method: "DELETE" });
  await world.send(headers, `/api/account/api-keys/${rotated.id}/rotate`, { body: { overlap_seconds: 0 } });
  await world.send({ "x-api-key": ended.key }, "/api/account/current-api-key/", { method: "DELETE" });
  const leaver = await person();
  const before = tokenOf(leaver.headers, { iat: Math.floor(Date.now() / 1000) - 60 });
  await world.send(leaver.headers, "/api/account/sign-ins/", { method: "DELETE" });
  return [
    ["a key that was revoked", { "x-api-key": revoked.key }],
    ["a key that was rotated away", { "x-api-key": rotated.key }],
    ["a key that has revoked itself", { "x-api-key": ended.key }],
    ["a token from before signing out everywhere", { authorization: `Bearer ${before}` }],
  ];
}
