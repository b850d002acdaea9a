import type { Answer } from "../../journey/client.ts";
import { type Attack, attack, type Control, control, type Finding } from "../runner/attack.ts";
import { plantedAnswer, shown } from "../runner/http-attack.ts";
import { applications, exchange, type IssuingScene, newCode, type SignedIn } from "../scene/issuing-scene.ts";
import { type ClientSecret, clientForgeries, tokenMutations, unknownGrants } from "./oauth-tables.ts";

export const isNoToken = (answer: Answer): Finding => {
  const isRefused =
    answer.status >= 400 &&
    answer.status < 500 &&
    typeof answer.json?.error === "string" &&
    answer.json.access_token === undefined;
  return isRefused ? null : shown(answer);
};
const givenTokens = [
  plantedAnswer(200, { access_token: "x" }),
  plantedAnswer(500),
  plantedAnswer(404),
  plantedAnswer(400, { error: "x", access_token: "x" }),
];
export const isTokens = (answer: Answer): Finding =>
  answer.status === 200 && typeof answer.json.access_token === "string" ? null : shown(answer);
export const noTokens = [plantedAnswer(400, { error: "invalid_grant" }), plantedAnswer(200)];

interface TokenRow {
  readonly what: string;
  readonly control: Control;
  readonly attempt: () => Promise<Answer>;
}

/** A row at the token endpoint. */
export const tokenRow = (row: TokenRow): Attack =>
  attack<Answer>({
    ...row,
    must: "give no token",
    repeat: `POST /oauth/token: ${row.what}`,
    judge: isNoToken,
    planted: givenTokens,
  });

/** Codes with the wrong client, verifier or redirect. Each row has its own code. */
export async function codeRows(scene: IssuingScene, { visitor }: SignedIn): Promise<Attack[]> {
  const { post, authorization } = scene;
  const own = applications.console;
  const given = async (more: Readonly<Record<string, string>> = {}) => {
    const asked = authorization(own, more);
    return { ...exchange(own, asked.verifier), code: await newCode(visitor, asked) };
  };
  const honest = control<Answer>({
    what: "a code with its verifier",
    attempt: async () => post("token", await given()),
    judge: isTokens,
    planted: noTokens,
  });
  const changes: Readonly<Record<string, (form: Awaited<ReturnType<typeof given>>) => Record<string, string>>> = {
    "without its verifier": ({ code_verifier: _verifier, ...rest }) => rest,
    "with an empty verifier": (form) => ({ ...form, code_verifier: "" }),
    "with another verifier": (form) => ({ ...form, code_verifier: "a".repeat(43) }),
    "with a short verifier": (form) => ({ ...form, code_verifier: form.code_verifier.slice(0, 42) }),
    "with a longer verifier": (form) => ({ ...form, code_verifier: `${form.code_verifier}A` }),
    "with the verifier in capitals": (form) => ({ ...form, code_verifier: form.code_verifier.toUpperCase() }),
    "by another application": (form) => ({ ...form, client_id: "other" }),
    "by another application with its redirect": (form) => ({
      ...form,
      client_id: "other",
      redirect_uri: "https://other.example/back",
    }),
    "by a native application": (form) => ({ ...form, client_id: "desk-cli" }),
    "by nobody": ({ client_id: _id, ...rest }) => rest,
    "with another redirect": (form) => ({ ...form, redirect_uri: "https://evil.example/" }),
    "as a refresh token": ({ code, ...rest }) => ({ ...rest, grant_type: "refresh_token", refresh_token: code }),
    "for another audience": (form) => ({ ...form, resource: "https://evil.example/" }),
    ...Object.fromEntries(
      Object.entries(tokenMutations).map(([what, mutate]) => [
        what,
        (form: { code: string }) => ({ ...form, code: mutate(form.code) }),
      ]),
    ),
  };
  const rows = Object.entries(changes).map(([what, change]) =>
    tokenRow({ what: `a code ${what}`, control: honest, attempt: async () => post("token", change(await given())) }),
  );
  // A second use ends everything from the person's sign-in, so each row has its own person.
  const twice = async (forms: number) => {
    const { visitor: another } = await scene.signIn();
    const asked = authorization(own);
    const form = { ...exchange(own, asked.verifier), code: await newCode(another, asked) };
    const answers = await Promise.all(Array.from({ length: forms }, () => post("token", form)));
    const again = await post("token", form);
    return answers.filter(({ status }) => status === 200).length > 1 ? (answers[0] as Answer) : again;
  };
  const privileged = ["account:admin", "config:admin env:read", "account:admin offline_access"].map((scope) =>
    tokenRow({
      what: `a code for ${scope} of an owner`,
      control: honest,
      attempt: async () => post("token", await given({ scope })),
    }),
  );
  return [
    ...rows,
    ...privileged,
    tokenRow({ what: "a code that was used", control: honest, attempt: () => twice(1) }),
    tokenRow({ what: "a code used ten times at once", control: honest, attempt: () => twice(10) }),
  ];
}

/** Programs with wrong credentials, at every endpoint that authenticates clients. */
export function clientRows(scene: IssuingScene, client: ClientSecret, other: ClientSecret): Attack[] {
  const own = { client_id: client.id, client_secret: client.secret };
  const endpoints = { token: { grant_type: "client_credentials" }, introspect: { token: "x" }, revoke: { token: "x" } };
  const forged = Object.entries(endpoints).flatMap(([endpoint, form]) => {
    const honest = control<Answer>({
      what: `${endpoint} by the client`,
      attempt: () => scene.post(endpoint, { ...form, ...own }),
      judge: (answer) => (answer.status === 200 ? null : shown(answer)),
      planted: noTokens.slice(0, 1),
    });
    return Object.entries(clientForgeries).map(([what, forge]) => {
      const shows = forge(client, other);
      return tokenRow({
        what: `${endpoint} with ${what}`,
        control: honest,
        attempt: () => scene.post(endpoint, { ...form, ...shows.form }, shows.headers),
      });
    });
  });
  const honest = control<Answer>({
    what: "a client's own grant",
    attempt: () => scene.post("token", { ...endpoints.token, ...own }),
    judge: isTokens,
    planted: noTokens,
  });
  const grants = Object.entries(unknownGrants).map(([what, form]) =>
    tokenRow({ what: `${what} by a client`, control: honest, attempt: () => scene.post("token", { ...form, ...own }) }),
  );
  const asked = [
    "account:admin",
    "account:write",
    "images:read",
    "config:admin env:read",
    "openid",
    "offline_access",
    "*",
    "account:read account:write",
  ];
  const scopes = asked.map((scope) =>
    tokenRow({
      what: `the scope ${scope} by a client for reading`,
      control: honest,
      attempt: () => scene.post("token", { ...endpoints.token, ...own, scope }),
    }),
  );
  return [...forged, ...grants, ...scopes];
}

/** Refresh tokens of other clients, changed, or used again. */
export function refreshRows(scene: IssuingScene): Attack[] {
  const { post } = scene;
  let owner: Promise<SignedIn> | null = null;
  const given = async () => {
    owner = owner ?? scene.signIn();
    const { tokens } = await owner;
    return { grant_type: "refresh_token", client_id: "desk", refresh_token: tokens.refresh_token ?? "" };
  };
  const honest = control<Answer>({
    what: "a refresh token by its application",
    attempt: async () => post("token", await given()),
    judge: isTokens,
    planted: noTokens,
  });
  const changes: Readonly<Record<string, (form: Awaited<ReturnType<typeof given>>) => Record<string, string>>> = {
    "by another application": (form) => ({ ...form, client_id: "other" }),
    "by a native application": (form) => ({ ...form, client_id: "desk-cli" }),
    "by nobody": ({ client_id: _id, ...rest }) => rest,
    "for more than was granted": (form) => ({ ...form, scope: "openid account:read account:admin" }),
    "for another scope": (form) => ({ ...form, scope: "images:write" }),
    "as a code": ({ refresh_token, ...rest }) => ({ ...rest, grant_type: "authorization_code", code: refresh_token }),
    ...Object.fromEntries(
      Object.entries(tokenMutations).map(([what, mutate]) => [
        what,
        (form: { refresh_token: string }) => ({ ...form, refresh_token: mutate(form.refresh_token) }),
      ]),
    ),
  };
  const rows = Object.entries(changes).map(([what, change]) =>
    tokenRow({
      what: `a refresh token ${what}`,
      control: honest,
      attempt: async () => post("token", change(await given())),
    }),
  );
  // The request uses it up, so each row has its own person.
  const elsewhere = async () => {
    const { tokens } = await scene.signIn();
    const form = { grant_type: "refresh_token", client_id: "desk", refresh_token: tokens.refresh_token ?? "" };
    return post("token", { ...form, resource: "https://evil.example/" });
  };
  return [...rows, tokenRow({ what: "a refresh token for another audience", control: honest, attempt: elsewhere })];
}
