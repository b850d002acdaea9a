import type { IncomingHttpHeaders } from "node:http";
import { credentialBytesMax, credentialFrom } from "@signalbox/auth";
import { created, createRoutes, type HttpResponse, noContent, ok, pageOf, refused } from "@signalbox/http";
import { z } from "zod";
import type { Identity } from "../accounts/account-store.ts";
import { actorOf } from "../audit/actor.ts";
import { IdentityResource, identityId, type LinkedIdentity, viewIdentity } from "./identity.ts";
import type { IdentityOfTokenVerb } from "./identity-of-token.ts";
import type { IdentityStore } from "./identity-store.ts";
import type { LinkIdentityVerb } from "./link-identity.ts";
import type { UnlinkIdentityVerb } from "./unlink-identity.ts";

interface Dependencies {
  readonly identities: Pick<IdentityStore, "list">;
  readonly identityOfToken: IdentityOfTokenVerb;
  readonly linkIdentity: LinkIdentityVerb;
  readonly unlinkIdentity: UnlinkIdentityVerb;
}

const NewIdentity = z.strictObject({
  token: z.string().min(1).max(credentialBytesMax).describe("A good access token of the other login."),
});

const auth = { scopes: ["account:security"], stepUp: true } as const;

/** The logins of the account: a person may have several. */
export function identityRoutes({ identities, identityOfToken, linkIdentity, unlinkIdentity }: Dependencies) {
  const routes = createRoutes({ errors: "account" });

  routes.get("/api/account/identities/", {
    summary: "List the logins of the account, the oldest first",
    auth: { scopes: ["account:read"], access: "own-account:read" },
    responses: { 200: pageOf(IdentityResource) },
    async handle({ principal, headers }) {
      const [linked, current] = [await identities.list(principal.accountId), await currentOf(headers)];
      return ok({ items: linked.map((identity) => viewIdentity(identity, current)), has_more: false });
    },
  });

  routes.get("/api/account/identities/:identity_id", {
    summary: "Read a login of the account",
    auth: { scopes: ["account:read"], access: "own-account:read" },
    responses: { 200: IdentityResource, 404: "error" },
    async handle({ principal, headers, params }) {
      const linked = await identities.list(principal.accountId);
      const identity = linked.find((one) => identityId(one) === params.identity_id);
      return identity ? ok(viewIdentity(identity, await currentOf(headers))) : refused(404, "not_found");
    },
  });

  routes.post("/api/account/identities/", {
    summary: "Add another login to the account",
    description:
      "The other login must not have an account: one that was used before has, and is deleted first. Adding it again answers 200.",
    auth,
    body: NewIdentity,
    responses: { 200: IdentityResource, 201: IdentityResource, 404: "error", 409: "error", 422: "error" },
    idempotent: true,
    async handle(input) {
      const current = await currentOf(input.headers);
      const answer = (identity: LinkedIdentity, isNew: boolean) => {
        const view = viewIdentity(identity, current);
        return isNew ? created(`/api/account/identities/${identityId(identity)}`, view) : ok(view);
      };
      const result = await linkIdentity({
        principal: input.principal,
        token: input.body.token,
        by: actorOf(input),
        alongside: (tx, identity, isNew) => input.idempotency.complete(tx, answer(identity, isNew)),
      });
      switch (result.outcome) {
        case "linked":
        case "already-linked":
          return answer(result.identity, result.outcome === "linked");
        case "refused":
          return tokenRefused("not_accepted", "This is not a good access token of a trusted issuer.");
        case "no-login":
          return tokenRefused("no_login", "This is not the token of a person's login.");
        case "taken":
          return refused(409, "conflict", { message: "This login has an account already." });
        case "too-many":
          return refused(409, "conflict", { message: "The account has as many logins as one may have." });
        case "not-found":
          return refused(404, "not_found");
      }
    },
  });

  routes.delete("/api/account/identities/:identity_id", {
    summary: "Take a login off the account",
    description: "Never the last way in. Within two seconds its tokens no longer act for this account.",
    auth,
    responses: { 204: "empty", 404: "error", 409: "error" },
    idempotent: true,
    async handle(input) {
      const result = await unlinkIdentity({
        principal: input.principal,
        id: input.params.identity_id,
        by: actorOf(input),
        alongside: (tx) => input.idempotency.complete(tx, noContent()),
      });
      switch (result) {
        case "unlinked":
          return noContent();
        case "last-way-in":
          return lastWayIn();
        case "not-found":
          return refused(404, "not_found");
      }
    },
  });

  return routes;

  /** The login of this very request; null for an API key and whatever else is no login. */
  async function currentOf(headers: IncomingHttpHeaders): Promise<Identity | null> {
    const credential = credentialFrom(headers);
    if (credential?.kind !== "bearer") return null;
    const result = await identityOfToken(credential.value);
    return result.outcome === "identity" ? result.identity : null;
  }
}

function lastWayIn(): HttpResponse {
  const message = "This is the only way into the account: add another one first.";
  return refused(409, "conflict", { message, details: [{ field: "identities", code: "last_way_in", message }] });
}

const tokenRefused = (code: string, message: string) =>
  refused(422, "validation_error", { message, details: [{ field: "token", code, message }] });
