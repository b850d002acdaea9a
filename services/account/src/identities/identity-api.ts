import type { IncomingHttpHeaders } from "node:http";
import { credentialBytesMax, credentialFrom } from "@signalbox/auth";
import { viewOf } from "@signalbox/contracts";
import {
  created,
  type HttpResponse,
  listPage,
  ok,
  pageOf,
  pageParameters,
  type Routes,
  rangeOf,
  refused,
} from "@signalbox/http";
import { conflict, type Edges, edgesOf, operation } from "@signalbox/service";
import { z } from "zod";
import type { Identity } from "../accounts/account-store.ts";
import { actorOf } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { accountGone, ownAccount } from "../profile/account-api.ts";
import { type LinkOutcome, linkLogin, type ProvenLogin, proveLogin, unlinkLogin } from "./identities.ts";
import { IdentityResource, identitiesOf, identityId, type LinkedIdentity, sameIdentity } from "./identity.ts";

const NewIdentity = z.strictObject({
  token: z
    .string()
    .min(1)
    .max(credentialBytesMax)
    .meta({
      description: "A valid access token of the other login.",
      examples: ["eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiI5ZjMxIn0.c2lnbmF0dXJl"],
    }),
});

const path = "/api/account/identities/" as const;
const mayRead = { scopes: ["account:read"], access: "own-account:read", ownAccount: true } as const;
const mayChange = { scopes: ["account:security"], stepUp: true, ownAccount: true } as const;

const missing = "There is no such login.";
const lastLogin = "This is the last login method of the account. Add another one first.";

/** The logins of the account, over REST alone: a person may have several. */
export function identityApi(service: AccountService): Edges {
  const unlinkIdentity = operation({
    summary: "Remove a login from the account",
    description:
      "The last login method of the account cannot be removed. Within two seconds the tokens of the login no longer act for this account.",
    auth: mayChange,
    audit: "identity.unlink",
    of: ownAccount(service),
    change: (tx, account, { caller, params }) => unlinkLogin(service, tx, caller, account, params.identity_id),
    refusals: {
      missing: { code: "not_found", message: missing },
      "last-way-in": conflict("identities", "last_way_in", lastLogin),
    },
    rest: { delete: `${path}:identity_id`, responses: { 204: "empty" }, idempotent: true },
  });
  const exampleIds = { identity_id: "idn_3dWq9LcN5wYfKb0ZrVxPsd" };
  const edges = edgesOf({ unlinkIdentity }, { errors: "account", exampleIds });
  addReading(service, edges.routes);
  addLinking(service, edges.routes);
  return edges;
}

const viewIdentity = viewOf(IdentityResource, (identity: LinkedIdentity, current: Identity | null) => ({
  id: identityId(identity),
  subject_hint: hintOfSubject(identity.subject),
  current: current !== null && sameIdentity(identity, current),
}));

/** A third of it at most: some providers use an address as the subject. */
function hintOfSubject(subject: string): string {
  const characters = [...subject];
  return `${characters.slice(0, Math.min(4, Math.floor(characters.length / 3))).join("")}…`;
}

const placeOf = (identity: LinkedIdentity) => ({ at: identity.createdAt, id: identityId(identity) });

function addReading(service: AccountService, routes: Routes): void {
  const { pageLimits, pool } = service;
  routes.get(path, {
    operationId: "identities",
    summary: "List the logins of the account, the oldest first",
    description: "Each login is an issuer and a subject that sign in to the account.",
    auth: mayRead,
    query: z.object(pageParameters(pageLimits)),
    responses: { 200: pageOf(IdentityResource) },
    async handle({ principal, headers, query }) {
      const current = await currentOf(service, headers);
      return listPage(
        query,
        async (range) => rangeOf(await identitiesOf(pool, principal.accountId), range, placeOf),
        (identity) => viewIdentity(identity, current),
        placeOf,
      );
    },
  });

  routes.get(`${path}:identity_id`, {
    operationId: "identity",
    summary: "Read a login of the account",
    description: "One issuer and subject that sign in to the account.",
    auth: mayRead,
    responses: { 200: IdentityResource, 404: "error" },
    async handle({ principal, headers, params }) {
      const linked = await identitiesOf(pool, principal.accountId);
      const identity = linked.find((one) => identityId(one) === params.identity_id);
      return identity
        ? ok(viewIdentity(identity, await currentOf(service, headers)))
        : refused(404, "not_found", { message: missing });
    },
  });
}

function addLinking(service: AccountService, routes: Routes): void {
  routes.post(path, {
    operationId: "linkIdentity",
    summary: "Add another login to the account",
    description:
      "The other login must not have an account. A login that was used before has one, which must be deleted first. Adding the same login again returns 200.",
    auth: mayChange,
    audit: "identity.link",
    body: NewIdentity,
    responses: { 200: IdentityResource, 201: IdentityResource, 404: "error", 409: "error", 422: "error" },
    idempotent: true,
    async handle(input) {
      const { caller, body, headers } = input;
      // Outside the transaction, because the issuer's keys may have to be fetched.
      const [proven, current] = [await proveLogin(service, body.token), await currentOf(service, headers)];
      if (proven.outcome !== "proven") return answerUnproven(proven.outcome);
      return input.inTransaction(async (tx) => {
        const account = await service.accountStore.lock(tx, caller.accountId);
        if (!account) return refused(404, "not_found", { message: accountGone });
        const answer = answerLink(await linkLogin(service, tx, actorOf(caller), account, proven.identity), current);
        if (answer.status < 300) await input.idempotency.complete(tx, answer);
        return answer;
      });
    },
  });
}

/** Finds the login of the present request; null for an API key and any other credential. */
async function currentOf(service: AccountService, headers: IncomingHttpHeaders): Promise<Identity | null> {
  const credential = credentialFrom(headers);
  if (credential?.kind !== "bearer") return null;
  const proven = await proveLogin(service, credential.value);
  return proven.outcome === "proven" ? proven.identity : null;
}

function answerUnproven(outcome: Exclude<ProvenLogin["outcome"], "proven">): HttpResponse {
  switch (outcome) {
    case "not-accepted":
      return tokenRefused("not_accepted", "This is not a valid access token of a trusted issuer.");
    case "no-login":
      return tokenRefused("no_login", "This is not the token of a person's login.");
  }
}

const tokenRefused = (code: "not_accepted" | "no_login", message: string) =>
  refused(422, "validation_error", { message, details: [{ field: "token", code, message }] });

function answerLink(result: LinkOutcome, current: Identity | null): HttpResponse {
  switch (result.outcome) {
    case "linked":
      return created(`${path}${identityId(result.identity)}`, viewIdentity(result.identity, current));
    case "already-linked":
      return ok(viewIdentity(result.identity, current));
    case "taken":
      return refused(409, "conflict", { message: "This login already has an account." });
    case "limit-reached":
      return refused(409, "conflict", { message: `An account has ${result.max} logins at most.` });
  }
}
