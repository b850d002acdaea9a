import type { createOidcIssuer } from "@signalbox/testing";
import { type Client, createClient, expectStatus } from "../journey/client.ts";
import type { System } from "../systems/system.ts";
import { attempts, type Verdict, verdictOf } from "./attempts.ts";

export type OidcIssuer = Awaited<ReturnType<typeof createOidcIssuer>>;
export type Headers = Record<string, string>;

/** A person with a valid token and a key. */
export interface Person {
  readonly accountId: string;
  readonly token: Headers;
  readonly key: Headers;
}

/** Role `admin`, so that scopes allow every attempt. */
export async function newPerson(system: System, issuer: OidcIssuer): Promise<Person> {
  const claims = { sub: crypto.randomUUID(), roles: ["admin"], auth_time: Math.floor(Date.now() / 1000) };
  const token = { authorization: `Bearer ${issuer.sign(claims, { expiresInSeconds: 900 })}` };
  const accountId = expectStatus(await owner(system, token)("/api/account/"), 200).json.id;
  return { accountId, token, key: (await makeKey(system, token)).headers };
}

export async function makeKey(system: System, token: Headers): Promise<{ id: string; headers: Headers }> {
  // Includes account:security, or the change of a property would need a recent sign-in.
  const scopes = ["account:write", "account:security", "images:write", "webhooks:write", "config:admin"];
  const body = { name: "enforcement", scopes };
  const { json } = expectStatus(await owner(system, token)("/api/account/api-keys/", { body }), 201);
  return { id: json.id, headers: { "x-api-key": json.key } };
}

export const owner = (system: System, headers: Headers): Client => {
  const send = createClient(system.baseUrl);
  return (path, request = {}) => send(path, { ...request, headers: { ...request.headers, ...headers } });
};

export const suspends = (system: System, accountId: string) => moves(system, accountId, "suspended");
export const activates = (system: System, accountId: string) => moves(system, accountId, "active");

async function moves(system: System, accountId: string, status: string): Promise<void> {
  const administrator = createClient(system.baseUrl, system.apiKey);
  const body = { status, reason: "enforcement" };
  expectStatus(await administrator(`/api/accounts/${accountId}/status`, { body }), 200);
}

export async function verdict(system: System, service: string, headers: Headers): Promise<Verdict> {
  const [path, request] = attempts[service] as (typeof attempts)[string];
  return verdictOf(await owner(system, headers)(path, request));
}
