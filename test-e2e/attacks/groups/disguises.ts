import { type ClientRequest, expectStatus } from "../../journey/client.ts";
import { type Attack, attack, control } from "../runner/attack.ts";
import { allowances, type IssuingScene } from "../scene/issuing-scene.ts";
import { beyond, type Counted, countAnswers, countBurst, shared, within } from "./counted.ts";

type Disguise = (at: number, credential: Credential) => { path: string; request: ClientRequest };

interface Credential {
  readonly token: string;
  /** A key of the same account. */
  readonly key: string;
}

const reads = [
  "/api/account/",
  "/api/account",
  "/api/v1/config/",
  "/api/v1/config",
  "/api/v2/settings",
  "/api/account/settings/",
];
export const read = (at: number) => reads[at % reads.length] ?? "";
const bearer = ({ token }: Credential): Record<string, string> => ({ authorization: `Bearer ${token}` });
const asking =
  (headers: (at: number) => Record<string, string>): Disguise =>
  (at, credential) => ({
    path: read(at),
    request: { headers: { ...bearer(credential), ...headers(at) } },
  });
export const address = (at: number) => `203.0.113.${at % 250}`;

/** Ways for one token to count as another caller, or not at all. */
const disguises: Readonly<Record<string, Disguise>> = {
  "over all services": asking(() => ({})),
  "from other addresses": asking((at) => ({
    "x-forwarded-for": address(at),
    "x-real-ip": address(at),
    forwarded: `for=${address(at)}`,
    "true-client-ip": address(at),
  })),
  "from other agents": asking((at) => ({
    "user-agent": `agent ${at}`,
    "accept-language": `x-${at}`,
    "x-request-id": `r${at}`,
  })),
  "with what is not modified": asking(() => ({ "if-none-match": "*" })),
  "with other spellings of Bearer": (at, { token }) => ({
    path: read(at),
    request: {
      headers: { authorization: `${["Bearer", "bearer", "BEARER", "bEARER"][at % 4]} ${" ".repeat(at % 3)}${token}` },
    },
  }),
  "with other queries": (at, credential) => ({
    path: `/api/account/audit/?limit=${(at % 50) + 1}`,
    request: { headers: bearer(credential) },
  }),
  "with paths that are not there": (at, credential) => ({
    path: `/api/account/api-keys/key_${at}`,
    request: { headers: bearer(credential) },
  }),
  "with requests that are wrong": (at, credential) => ({
    path: "/api/account/",
    request: { method: "PATCH", headers: bearer(credential), body: { wrong: at } },
  }),
  "with HEAD": (at, credential) => ({ path: read(at), request: { method: "HEAD", headers: bearer(credential) } }),
  "with what it lacks the scope for": (_at, credential) => ({
    path: "/images",
    request: { headers: bearer(credential) },
  }),
  "over the graph": (_at, credential) => ({
    path: "/graphql",
    request: { headers: bearer(credential), body: { query: "{ viewer { id } }" } },
  }),
  "over the graph by GET": (_at, credential) => ({
    path: "/graphql?query=%7Bviewer%7Bid%7D%7D",
    request: { headers: bearer(credential) },
  }),
  "over the graph with documents that are wrong": (at, credential) => ({
    path: "/graphql",
    request: { headers: bearer(credential), body: { query: `{ a${at} }` } },
  }),
  "with one key of an idempotent request": (_at, credential) => ({
    path: "/api/account/",
    request: { method: "PATCH", headers: { ...bearer(credential), "idempotency-key": "one" }, body: {} },
  }),
};

/** Each disguise gets a new account, because an allowance can be used up once. */
export function disguiseRows(scene: IssuingScene): Attack[] {
  const { send } = scene;
  const begins = control<Counted>({
    what: "a few requests of somebody",
    attempt: async () =>
      countAnswers(
        async () => (await send("/api/account/", { headers: { ...(await scene.signIn()).headers } })).status,
        1,
        429,
      ),
    judge: ({ answered }) => (answered === 1 ? null : "refused at once"),
    planted: [{ answered: 0, refused: 1 }],
  });
  const row = (what: string, allowed: number, disguise: Disguise, keys: boolean): Attack =>
    attack<Counted>({
      what,
      must: `be refused after ${allowed} requests`,
      repeat: `${allowed + 30} requests ${what}`,
      control: begins,
      attempt: () =>
        countBurst(allowed, async () => {
          const { headers, tokens } = await scene.signIn();
          const body = { name: "counted", scopes: ["account:read"] };
          const key = keys
            ? expectStatus(await send("/api/account/api-keys/", { headers: { ...headers }, body }), 201).json.key
            : "";
          return countAnswers(
            async (at) => {
              const { path, request } = disguise(at, { token: tokens.access_token ?? "", key });
              return (await send(path, request)).status;
            },
            allowed + 30,
            429,
          );
        }),
      judge: within(allowed, shared),
      planted: beyond(allowed, shared),
    });
  const byTurns: Disguise = (at, { token, key }) => ({
    path: read(at),
    request: { headers: at % 2 === 0 ? { "x-api-key": key } : { authorization: `Bearer ${token}` } },
  });
  const oneKey: Disguise = (at, { key }) => {
    const forms = [
      { "x-api-key": key },
      { authorization: `Bearer ${key}` },
      { authorization: `Basic ${Buffer.from(`u${at}:${key}`).toString("base64")}` },
    ];
    return { path: read(at), request: { headers: (forms[at % 3] ?? {}) as Record<string, string> } };
  };
  return [
    ...Object.entries(disguises).map(([what, disguise]) =>
      row(`one token ${what}`, allowances.credential, disguise, false),
    ),
    row("one account by token and key in turn", allowances.account, byTurns, true),
    row("one account by one key in every form", allowances.account, oneKey, true),
  ];
}
