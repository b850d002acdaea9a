import { hash } from "node:crypto";
import type { Headers } from "../../audit/world.ts";
import { type Attack, type Control, control } from "../runner/attack.ts";
import { httpAttack, httpControl, refusedAs, succeeds } from "../runner/http-attack.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";
import type { Group } from "./group.ts";
import { forgedTokens, type Tools, toolsOf } from "./jwt-forgeries.ts";

/** Webhooks with a forged token, or with a token that was signed for another purpose. */
export const ingestTokens: Group = {
  name: "ingest-tokens",
  atOnce: 8,
  async rows(scenes) {
    const scene = await scenes.trusting();
    const owner = (await scene.person()).headers;
    const tools = await toolsOf(scene.issuer, { sub: "shop", digest: digestOf(body) });
    const source = await createSource(scene, owner, partnerWith(scene, tools.jwk));
    const honest = () => signedWith(tools.good());
    const onlyHonest = onlyOneReceived(scene, owner, source, honest);
    const at = (what: string, request: SignedRequest, control: Control = onlyHonest) =>
      rowAt(scene, source, { what, request, control });
    return [
      ...[...forgedTokens(tools)].map(([what, token]) => at(`a token ${what}`, signedWith(token))),
      ...Object.entries(wrongTokens).map(([what, make]) => at(`a token ${what}`, signedWith(make(tools)))),
      ...Object.entries(otherPlaces).map(([what, place]) => at(what, { headers: place(tools.good()), body })),
      at("another body than the token is for", { ...signedWith(tools.good()), body: Buffer.from(`${body} `) }),
      at("a token of another source's key set", ...(await ofAnotherSet(scene, owner, tools))),
    ];
  },
};

interface SignedRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface Source {
  readonly id: string;
  readonly path: string;
}

/** Creates a source for a partner with its own key set. */
async function createSource(
  { world }: TrustingScene,
  owner: Headers,
  { newSecret, ...partner }: ReturnType<typeof partnerWith>,
): Promise<Source> {
  const body = { ...partner, secret: newSecret() };
  const { id, ingest_path: path } = (await world.send(owner, "/api/v1/webhooks/sources", { body })).json;
  return { id, path };
}

/** Checks that the honest request is accepted, and that the source has received nothing else. */
function onlyOneReceived(
  { send, world }: TrustingScene,
  owner: Headers,
  { id, path }: Source,
  honest: () => SignedRequest,
): Control {
  return control<{ readonly status: number; readonly count: number }>({
    what: "jwt: the honest request alone",
    attempt: async () => {
      const { status } = await send(path, honest());
      return { status, count: (await world.send(owner, `/api/v1/webhooks/sources/${id}/received`)).json.items.length };
    },
    judge: ({ status, count }) => (status === 202 && count === 1 ? null : `answered ${status}, ${count} received`),
    planted: [
      { status: 404, count: 0 },
      { status: 202, count: 2 },
      { status: 202, count: 0 },
    ],
  });
}

const body = Buffer.from(JSON.stringify({ id: "d-1", type: "order.created", amount: 100 }));
const digestOf = (bytes: Buffer): string => hash("sha256", bytes, "buffer").toString("base64url");
const json = { "content-type": "application/json" };
const signedWith = (token: string): SignedRequest => ({ headers: { ...json, authorization: `Bearer ${token}` }, body });

/** A partner whose token states the body that it is for. */
const partnerWith = ({ issuer }: TrustingScene, jwk: object) => ({
  name: "jwt",
  scheme: "jwt",
  settings: {
    issuer: issuer.issuer,
    audience: issuer.audience,
    body_digest_claim: "digest",
    body_digest_encoding: "base64url",
  },
  newSecret: () => JSON.stringify({ keys: [jwk] }),
});

const seconds = () => Math.floor(Date.now() / 1000);
const day = 86_400;

/** Correctly signed tokens that are not for this webhook. */
const wrongTokens: Readonly<Record<string, (tools: Tools) => string>> = {
  "of another issuer": ({ good }) => good({ iss: "https://evil.example" }),
  "of no issuer": ({ good }) => good({ iss: undefined }),
  "of a list of issuers": ({ good, claims }) => good({ iss: [claims.iss] }),
  "for another audience": ({ good }) => good({ aud: "somebody-else" }),
  "for nobody": ({ good }) => good({ aud: undefined }),
  "for our audience in capitals": ({ good, claims }) => good({ aud: String(claims.aud).toUpperCase() }),
  "for an object as audience": ({ good, claims }) => good({ aud: { [String(claims.aud)]: true } }),
  "that has expired": ({ good }) => good({ iat: seconds() - 1_200, exp: seconds() - 600 }),
  "whose end is a text": ({ good }) => good({ exp: String(seconds() + 600) }),
  "that says no time": ({ good }) => good({ iat: undefined, exp: undefined }),
  "that was issued two days ago": ({ good }) => good({ iat: seconds() - 2 * day, exp: seconds() + 60 }),
  "that lives for two days and does not say since when": ({ good }) =>
    good({ iat: undefined, exp: seconds() + 2 * day }),
  "issued in an hour": ({ good }) => good({ iat: seconds() + 3_600, exp: seconds() + 4_000 }),
  "that begins in an hour": ({ good }) => good({ nbf: seconds() + 3_600 }),
  "for another body": ({ good }) => good({ digest: digestOf(Buffer.from("{}")) }),
  "for an empty body": ({ good }) => good({ digest: digestOf(Buffer.alloc(0)) }),
  "for no body": ({ good }) => good({ digest: undefined }),
  "for a list of bodies": ({ good, claims }) => good({ digest: [claims.digest] }),
  "for half a digest": ({ good, claims }) => good({ digest: String(claims.digest).slice(0, 22) }),
  "under a key id that the set has not": ({ good }) => good({}, { kid: "another" }),
  "under a number as key id": ({ good }) => good({}, { kid: 7 }),
  "with an unknown critical extension": ({ good }) => good({}, { crit: ["exp2"], exp2: 1 }),
};

/** Wrong places for a valid token. */
const otherPlaces: Readonly<Record<string, (token: string) => Readonly<Record<string, string>>>> = {
  "no token": () => json,
  "the token without Bearer": (token) => ({ ...json, authorization: token }),
  "the token as Basic": (token) => ({ ...json, authorization: `Basic ${token}` }),
  "the token in another header": (token) => ({ ...json, "x-authorization": `Bearer ${token}` }),
  "two tokens": (token) => ({ ...json, authorization: `Bearer ${token}, Bearer ${token}` }),
};

interface Given {
  readonly what: string;
  readonly request: SignedRequest;
  readonly control: Control;
}

const rowAt = ({ send }: TrustingScene, { path }: Source, { what, request, control }: Given): Attack =>
  httpAttack({
    send,
    path,
    request,
    control,
    what: `jwt: ${what}`,
    must: "be refused with 401, and leave nothing",
    judge: refusedAs("unauthorized"),
  });

/** A valid token of another source of the same owner, with its own key set. */
async function ofAnotherSet(
  scene: TrustingScene,
  owner: Headers,
  { encoded, claims, ours }: Tools,
): Promise<readonly [SignedRequest, Control]> {
  const jwk = { ...ours.jwk, kid: "of-another-set", alg: "RS256", use: "sig" };
  const { path } = await createSource(scene, owner, partnerWith(scene, jwk));
  const request = signedWith(encoded({ alg: "RS256", kid: jwk.kid }, claims, ours.sign));
  const { send } = scene;
  return [
    request,
    httpControl({ send, path, request, what: "jwt: the other source takes its token", judge: succeeds }),
  ];
}
