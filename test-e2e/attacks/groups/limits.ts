import type { Headers } from "../../audit/world.ts";
import { type ClientRequest, expectStatus } from "../../journey/client.ts";
import { type Attack, attack, control } from "../runner/attack.ts";
import { inLanes } from "../runner/run-attacks.ts";
import { allowances, type IssuingScene } from "../scene/issuing-scene.ts";
import type { Group } from "./group.ts";
import { sizeRows } from "./sizes.ts";

/** More requests than allowed, in every disguise. The last group, because it uses up the allowances of this address. */
export const limits: Group = {
  name: "limits",
  atOnce: 2,
  rows: async (scenes) => [...(await sizeRows(await scenes.trusting())), ...disguiseRows(await scenes.issuing())],
};

/** Numbers of requests that were answered, and that were refused by a rate limit. */
interface Counted {
  readonly answered: number;
  readonly refused: number;
}

/** Concurrent requests; processes that share a count may let as many more through while they fetch their shares. */
const lanes = 6;
const burstsMax = 3;

const reads = [
  ...["/api/account/", "/api/account", "/api/v1/config/", "/api/v1/config"],
  ...["/api/v2/settings", "/api/account/settings/"],
];
type Request = ClientRequest & { readonly path?: string };
type Disguise = (at: number, bearer: Headers, key: string) => Request;
const address = (at: number) => `203.0.113.${at % 250}`;

/** Ways for one token to count as another caller, or not at all. */
const disguises: Readonly<Record<string, Disguise>> = {
  "over all services": () => ({}),
  "from other addresses": (at) => ({
    headers: { "x-forwarded-for": address(at), forwarded: `for=${address(at)}`, "true-client-ip": address(at) },
  }),
  "from other agents": (at) => ({ headers: { "user-agent": `agent ${at}`, "x-request-id": `r${at}` } }),
  "with what is not modified": () => ({ headers: { "if-none-match": "*" } }),
  "with other spellings of Bearer": (at, { authorization = "" }) => ({
    headers: { authorization: authorization.replace("Bearer ", ["BEARER ", "bearer  ", "bEARER "][at % 3] ?? "") },
  }),
  "with other queries": (at) => ({ path: `/api/account/audit/?limit=${(at % 50) + 1}` }),
  "with paths that are not there": (at) => ({ path: `/api/account/api-keys/key_${at}` }),
  "with requests that are wrong": (at) => ({ path: "/api/account/", method: "PATCH", body: { wrong: at } }),
  "with HEAD": () => ({ method: "HEAD" }),
  "with what it lacks the scope for": () => ({ path: "/images" }),
  "over the graph": () => ({ path: "/graphql", body: { query: "{ viewer { id } }" } }),
  "over the graph by GET": () => ({ path: "/graphql?query=%7Bviewer%7Bid%7D%7D" }),
  "over the graph with documents that are wrong": (at) => ({ path: "/graphql", body: { query: `{ a${at} }` } }),
  "with one key of an idempotent request": () => ({
    path: "/api/account/",
    method: "PATCH",
    headers: { "idempotency-key": "one" },
    body: {},
  }),
};

/** Ways for one account to count as several. */
const accountDisguises: Readonly<Record<string, Disguise>> = {
  "by token and key in turn": (at, bearer, key) => ({
    headers: at % 2 === 0 ? { authorization: "", "x-api-key": key } : { ...bearer },
  }),
  "by one key in every form": (at, _bearer, key) => {
    const basic = { authorization: `Basic ${Buffer.from(`u${at}:${key}`).toString("base64")}` };
    return {
      headers: [{ authorization: "", "x-api-key": key }, { authorization: `Bearer ${key}` }, basic][at % 3] ?? {},
    };
  },
};

/** Each disguise gets a new account, because an allowance can be used up once. */
function disguiseRows(scene: IssuingScene): Attack[] {
  const begins = control<number>({
    what: "a request of somebody",
    attempt: async () => (await scene.send("/api/account/", { headers: { ...(await scene.signIn()).headers } })).status,
    judge: (status) => (status === 200 ? null : `${status}`),
    planted: [429],
  });
  const row = (what: string, allowed: number, disguise: Disguise): Attack =>
    attack<Counted>({
      what,
      must: `be refused after ${allowed} requests`,
      repeat: `${allowed + 30} requests ${what}`,
      control: begins,
      attempt: () => countBursts(scene, allowed, disguise),
      judge: within(allowed),
      planted: [
        { answered: allowed + lanes + 1, refused: 1 },
        { answered: allowed, refused: 0 },
      ],
    });
  return [
    ...Object.entries(disguises).map(([what, disguise]) => row(`one token ${what}`, allowances.credential, disguise)),
    ...Object.entries(accountDisguises).map(([what, disguise]) =>
      row(`one account ${what}`, allowances.account, disguise),
    ),
  ];
}

const within =
  (allowed: number) =>
  ({ answered, refused }: Counted) =>
    answered <= allowed + lanes && refused > 0 ? null : `${answered} were answered, ${refused} refused`;

/** Counts a burst, and repeats it when so many were answered that it may have crossed into the next window. */
async function countBursts(scene: IssuingScene, allowed: number, disguise: Disguise): Promise<Counted> {
  for (let nth = 1; ; nth++) {
    const { headers: bearer } = await scene.signIn();
    const body = { name: "counted", scopes: ["account:read"] };
    const made = await scene.send("/api/account/api-keys/", { headers: { ...bearer }, body });
    const { key } = expectStatus(made, 201).json;
    const statuses: number[] = [];
    await inLanes([...Array(allowed + 30).keys()], lanes, async (at) => {
      const { path = reads[at % reads.length] ?? "", headers, ...request } = disguise(at, bearer, key);
      const { authorization, ...others } = { ...bearer, ...headers };
      const sent = authorization === "" ? others : { ...others, authorization };
      statuses.push((await scene.send(path, { ...request, headers: sent as Record<string, string> })).status);
    });
    const refused = statuses.filter((status) => status === 429).length;
    const counted = { answered: statuses.length - refused, refused };
    if (nth === burstsMax || within(allowed)(counted) === null) return counted;
  }
}
