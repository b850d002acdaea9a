import { json } from "node:stream/consumers";
import { type Principal, principalProtocol } from "@signalbox/auth";
import { type AccountState, type Role, type Scope, scopes } from "@signalbox/contracts";
import { randomId } from "@signalbox/core";
import { type ServedListener, serveListener } from "./serve-listener.ts";

/** A person with an account. The token itself carries the principal, for the stand-in of the account service. */
export interface TestPerson {
  readonly accountId: string;
  readonly headers: { readonly authorization: string };
  /** The token alone, for clients that send it another way. */
  readonly token: string;
  readonly principal: Principal;
}

interface Claims {
  readonly accountId?: string;
  /** Every scope when absent. */
  readonly scopes?: readonly Scope[];
  /** Time of the sign-in; now when absent. */
  readonly authTimeMs?: number;
  /** Kind of credential; a person's token when absent. */
  readonly kind?: Principal["credential"]["kind"];
  /** The endpoints of a portal session; no such session when absent. */
  readonly portal?: Principal["portal"];
  /** State of the account; `active` when absent. */
  readonly state?: AccountState;
  /** Roles of the account; none when absent. */
  readonly roles?: readonly Role[];
  readonly profile?: NonNullable<Principal["profile"]>;
  /** End of the credential; none when absent. */
  readonly expiresAtMs?: number;
}

export function testPerson(wanted: Claims = {}): TestPerson {
  const { accountId = randomId("acc"), scopes: granted = scopes, kind = "token", state = "active" } = wanted;
  const { authTimeMs = kind === "token" ? Date.now() : null } = wanted;
  const { roles = [], profile, expiresAtMs, portal } = wanted;
  const jti = crypto.randomUUID();
  const claims = { accountId, granted, kind, authTimeMs, state, jti, roles, profile, expiresAtMs, portal };
  const token = Buffer.from(JSON.stringify(claims)).toString("base64url");
  return { accountId, headers: { authorization: `Bearer ${token}` }, token, principal: principalIn(token) };
}

function principalIn(token: string): Principal {
  const claims = JSON.parse(Buffer.from(token, "base64url").toString());
  const { accountId, granted, kind, authTimeMs, state, jti, roles, profile, expiresAtMs, portal } = claims;
  const credential = { kind, id: jti, authTimeMs };
  const expiresAt = expiresAtMs === undefined ? null : new Date(expiresAtMs);
  const whose = { accountId, state, epoch: 0, scopes: new Set<Scope>(granted), roles, ...(profile && { profile }) };
  return { ...whose, credential, expiresAt, ...(portal && { portal }) };
}

/**
 * A stand-in of the account service for other services, with the persons of `testPerson`. A test may change its
 * answers.
 */
export interface AccountStandIn extends ServedListener {
  /** States that replace those of the tokens, by account. */
  readonly now: Map<string, AccountState | "unauthorized">;
  /** Accounts that are no longer administrators. */
  readonly dismissed: Set<string>;
  /** True when the state topic lacks a change. */
  unannounced: boolean;
  /** True to break every connection instead of answering. */
  away: boolean;
  /** Number of requests for a principal. */
  asked: number;
}

/** Answers `POST /internal/principals` and `GET /internal/access-announcements` as the account service does. */
export async function startAccountStandIn(): Promise<AccountStandIn> {
  const account = {
    now: new Map<string, AccountState | "unauthorized">(),
    dismissed: new Set<string>(),
    unannounced: false,
    away: false,
    asked: 0,
  };
  const principalFor = (value: string): Principal => {
    const principal = principalIn(value);
    const state = account.now.get(principal.accountId) ?? principal.state;
    if (state === "unauthorized") throw new Error("the credential is not good");
    return { ...principal, state };
  };
  const served = await serveListener(async (request, response) => {
    const isAboutRoles = request.url === principalProtocol.administratorsPath;
    if (request.method === "POST" && !isAboutRoles) account.asked++;
    if (account.away) return void request.destroy();
    response.setHeader("content-type", "application/json");
    if (isAboutRoles) {
      const { account_ids } = (await json(request)) as { account_ids: string[] };
      response.end(JSON.stringify({ administrators: account_ids.filter((id) => !account.dismissed.has(id)) }));
      return;
    }
    if (request.url === principalProtocol.announcementsPath) {
      response.end(JSON.stringify({ unannounced: account.unannounced }));
      return;
    }
    try {
      const { value } = (await json(request)) as { value: string };
      response.end(JSON.stringify(principalProtocol.answerFromPrincipal(principalFor(value))));
    } catch {
      response.writeHead(422).end(JSON.stringify({ error: { message: "unknown" } }));
    }
  });
  return Object.assign(account, served);
}
