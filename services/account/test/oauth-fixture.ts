import type { Scope } from "@signalbox/contracts";
import { createMetrics } from "@signalbox/runtime";
import { openPool, type Pool, sql } from "@signalbox/storage";
import * as openid from "openid-client";
import { type Harness, startAccount } from "./harness.ts";

/** Public address of the deployment; the tests' listeners stand behind it, as behind an edge. */
export const baseUrl = "https://signalbox.example/house";
export const issuer = `${baseUrl}/oauth`;

type Overrides = NonNullable<Parameters<typeof startAccount>[0]>;
type Options = NonNullable<Parameters<typeof startAccount>[1]>;

/** The account service with its built-in issuer only. */
export const startIssuer = (overrides: Overrides = {}, options: Options = {}): Promise<Harness> => {
  const given = {
    "auth.issuers": "[]",
    "account.issuer.enabled": true,
    "http.base-url": baseUrl,
    // Most tests are about people who need no invitation.
    "account.registration": "open",
    // All people of a test share one client address.
    "http.rate-limit.anonymous.requests": 10_000,
    "http.rate-limit.failed-sign-in.requests": 10_000,
    ...overrides,
  };
  return startAccount(given, options);
};

/** Another instance of the service over the same tables and log. */
export function startSecond(
  { context: { configuration } }: Harness,
  overrides: Overrides = {},
  options: Options = {},
): Promise<Harness> {
  const shared = {
    "database.url": configuration.get("database.url"),
    "events.url": configuration.get("events.url"),
    // Either instance sends the mails of both.
    "mail.url": configuration.get("mail.url"),
    ...overrides,
  };
  return startIssuer(shared, options);
}

/** Acts as an edge: removes the path of the deployment and forwards to the instance. */
export function through(instance: Harness, changed: Record<string, string> = {}) {
  return (url: string, options: object = {}): Promise<Response> => {
    const { headers, ...rest } = options as RequestInit;
    const all = new Headers(headers);
    for (const [name, value] of Object.entries(changed)) all.set(name, value);
    return fetch(url.replace(baseUrl, instance.url).replace(new URL(baseUrl).origin, instance.url), {
      redirect: "manual",
      ...rest,
      headers: all,
    });
  };
}

/** Discovers the issuer with `openid-client`, for one of its clients. */
export function discover(
  instance: Harness,
  clientId: string,
  authentication: openid.ClientAuth,
  algorithm: "oidc" | "oauth2" = "oidc",
): Promise<openid.Configuration> {
  return openid.discovery(new URL(issuer), clientId, undefined, authentication, {
    algorithm,
    [openid.customFetch]: through(instance) as openid.CustomFetch,
  });
}

export interface CreatedClient {
  readonly id: string;
  readonly secret: string;
}

/** Creates a service client as `headers`. */
export async function makeClient(
  instance: Harness,
  headers: Record<string, string>,
  scopes: readonly Scope[] = ["account:read", "account:write"],
  more: object = {},
): Promise<CreatedClient> {
  const body = { name: "robot", scopes, ...more };
  const answer = await instance.send("POST", "/api/account/clients/", { headers, body });
  if (answer.status !== 201) throw new Error(`no client was made: ${JSON.stringify(answer.body)}`);
  return { id: answer.body.client_id, secret: answer.body.client_secret };
}

/** Gets an access token of a service client. */
export async function clientToken(instance: Harness, { id, secret }: CreatedClient, scope?: string) {
  const configuration = await discover(instance, id, openid.ClientSecretBasic(secret));
  const tokens = await openid.clientCredentialsGrant(configuration, scope === undefined ? {} : { scope });
  return { configuration, ...tokens };
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** The claims of a token, unverified. */
export function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
}

/** The header of a token, unverified. */
export function headerOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString());
}

/** A separate pool to the database of an instance. */
export function databaseOf({ context }: Harness): Pool {
  const { configuration, log, runner } = context;
  const metrics = createMetrics({ service: "account" });
  return openPool({
    url: configuration.get("database.url"),
    max: 2,
    applicationName: "oauth-tests",
    log,
    metrics,
    runner,
  });
}

const listTables = sql(
  "test.tables",
  `select schemaname || '.' || tablename as name from pg_tables where schemaname in ('public', 'signalbox')`,
);

/** The tables with a row that contains this text. */
export async function tablesWith(instance: Harness, text: string): Promise<string[]> {
  const pool = databaseOf(instance);
  const { rows } = await pool.query<{ name: string }>(listTables);
  const found: string[] = [];
  for (const { name } of rows) {
    const search = sql("", `select 1 from ${name} as r where r::text like '%' || $1 || '%' limit 1`);
    if ((await pool.query(search, [text])).rowCount > 0) found.push(name.replace("public.", ""));
  }
  return found;
}
