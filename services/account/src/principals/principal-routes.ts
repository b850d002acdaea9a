import { type PrincipalSource, principalProtocol } from "@signalbox/auth";
import { isAppError } from "@signalbox/core";
import { createRoutes, ok, refused } from "@signalbox/http";
import { scopesOfAccount } from "../accounts/account.ts";
import type { AccountService } from "../context/account-service.ts";
import { withRolesElsewhere } from "../identities/identities.ts";

/** The internal route by which other services look up principals. */
export function principalRoutes(service: AccountService, principals: PrincipalSource) {
  const { hasIssuer, accountStore, pool } = service;
  const routes = createRoutes({ errors: "account" });

  routes.post(principalProtocol.principalsPath, {
    summary: "Find the principal of a credential",
    auth: "anonymous",
    body: principalProtocol.PrincipalQuestion,
    responses: { 200: principalProtocol.PrincipalAnswer, 422: "error" },
    rateLimit: "none",
    async handle({ body }) {
      try {
        return ok(principalProtocol.answerFromPrincipal(await principals.resolve(body)));
      } catch (error) {
        // 401 would mean that the asking service's own token is wrong.
        if (!isAppError(error) || error.code !== "unauthorized") throw error;
        return refused(422, "validation_error", { message: error.message });
      }
    },
  });

  routes.get(principalProtocol.announcementsPath, {
    summary: "Check for access changes that the state topic lacks",
    auth: "anonymous",
    responses: { 200: principalProtocol.AnnouncementsAnswer },
    rateLimit: "none",
    handle: async () => ok({ unannounced: await principals.hasUnannounced() }),
  });

  routes.post(principalProtocol.administratorsPath, {
    summary: "Find the administrators among these accounts",
    auth: "anonymous",
    body: principalProtocol.AdministratorsQuestion,
    responses: { 200: principalProtocol.AdministratorsAnswer },
    rateLimit: "none",
    async handle({ body }) {
      if (!hasIssuer) return ok({ administrators: null });
      const found = await accountStore.findMany(body.account_ids);
      const elsewhere = await withRolesElsewhere(service, pool, body.account_ids);
      // Those of another issuer are known only while they act.
      const administrators = found.filter(
        (account) => elsewhere.has(account.id) || scopesOfAccount(account).has("account:admin"),
      );
      return ok({ administrators: administrators.map(({ id }) => id) });
    },
  });

  return routes;
}
