import {
  AnnouncementsAnswer,
  announcementsPath,
  answerFromPrincipal,
  PrincipalAnswer,
  PrincipalQuestion,
  type PrincipalSource,
  principalsPath,
} from "@signalbox/auth";
import { isAppError } from "@signalbox/core";
import { createRoutes, ok, refused } from "@signalbox/http";

/** The route on which other services ask, on the internal listener. */
export function principalRoutes({ principals }: { readonly principals: PrincipalSource }) {
  const routes = createRoutes({ errors: "account" });

  routes.post(principalsPath, {
    summary: "Find whose credential this is",
    auth: "anonymous",
    body: PrincipalQuestion,
    responses: { 200: PrincipalAnswer, 422: "error" },
    rateLimit: "none",
    async handle({ body }) {
      try {
        return ok(answerFromPrincipal(await principals.resolve(body)));
      } catch (error) {
        // 401 would say that the asking service's own token is wrong.
        if (!isAppError(error) || error.code !== "unauthorized") throw error;
        return refused(422, "validation_error", { message: error.message });
      }
    },
  });

  routes.get(announcementsPath, {
    summary: "Tell whether the state topic lacks access changes",
    auth: "anonymous",
    responses: { 200: AnnouncementsAnswer },
    rateLimit: "none",
    handle: async () => ok({ unannounced: await principals.hasUnannounced() }),
  });

  return routes;
}
