import {
  AdministratorsAnswer,
  AdministratorsQuestion,
  AnnouncementsAnswer,
  administratorsPath,
  announcementsPath,
  answerFromPrincipal,
  PrincipalAnswer,
  PrincipalQuestion,
  type PrincipalSource,
  principalsPath,
} from "@signalbox/auth";
import { isAppError } from "@signalbox/core";
import { createRoutes, ok, refused } from "@signalbox/http";
import { scopesOfAccount } from "../accounts/account.ts";
import type { AccountService } from "../context/account-service.ts";

/** The internal route by which other services look up principals. */
export function principalRoutes({ hasIssuer, accountStore }: AccountService, principals: PrincipalSource) {
  const routes = createRoutes({ errors: "account" });

  routes.post(principalsPath, {
    summary: "Find the principal of a credential",
    auth: "anonymous",
    body: PrincipalQuestion,
    responses: { 200: PrincipalAnswer, 422: "error" },
    rateLimit: "none",
    async handle({ body }) {
      try {
        return ok(answerFromPrincipal(await principals.resolve(body)));
      } catch (error) {
        // 401 would mean that the asking service's own token is wrong.
        if (!isAppError(error) || error.code !== "unauthorized") throw error;
        return refused(422, "validation_error", { message: error.message });
      }
    },
  });

  routes.get(announcementsPath, {
    summary: "Check for access changes that the state topic lacks",
    auth: "anonymous",
    responses: { 200: AnnouncementsAnswer },
    rateLimit: "none",
    handle: async () => ok({ unannounced: await principals.hasUnannounced() }),
  });

  routes.post(administratorsPath, {
    summary: "Find the administrators among these accounts",
    auth: "anonymous",
    body: AdministratorsQuestion,
    responses: { 200: AdministratorsAnswer },
    rateLimit: "none",
    async handle({ body }) {
      if (!hasIssuer) return ok({ administrators: null });
      const found = await accountStore.findMany(body.account_ids);
      const administrators = found.filter((account) => scopesOfAccount(account).has("account:admin"));
      return ok({ administrators: administrators.map(({ id }) => id) });
    },
  });

  return routes;
}
