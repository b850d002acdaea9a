import { createRoutes } from "@signalbox/http";
import { accountRoutes } from "./accounts/account-routes.ts";
import { administrationRoutes } from "./administration/administration-routes.ts";
import { auditRoutes } from "./audit/audit-routes.ts";
import { contactLinkRoutes } from "./contacts/contact-link-routes.ts";
import { contactRoutes } from "./contacts/contact-routes.ts";
import { credentialRoutes } from "./credentials/credential-routes.ts";
import { exportRoutes } from "./export/export-routes.ts";
import { identityRoutes } from "./identities/identity-routes.ts";
import { settingsRoutes } from "./settings/settings-routes.ts";
import { signInRoutes } from "./sign-ins/sign-in-routes.ts";
import { statusRoutes } from "./statuses/status-routes.ts";
import { stepUpRoutes } from "./step-up/step-up-routes.ts";

type Dependencies = Parameters<typeof accountRoutes>[0] &
  Parameters<typeof settingsRoutes>[0] &
  Parameters<typeof statusRoutes>[0] &
  Parameters<typeof contactRoutes>[0] &
  Parameters<typeof contactLinkRoutes>[0] &
  Parameters<typeof stepUpRoutes>[0] &
  Parameters<typeof signInRoutes>[0] &
  Parameters<typeof identityRoutes>[0] &
  Parameters<typeof credentialRoutes>[0] &
  Parameters<typeof auditRoutes>[0] &
  Parameters<typeof exportRoutes>[0] &
  Parameters<typeof administrationRoutes>[0];

/** Every public route of the account service. */
export function publicRoutes(dependencies: Dependencies) {
  const routes = createRoutes();
  routes.include(accountRoutes(dependencies));
  routes.include(settingsRoutes(dependencies));
  routes.include(statusRoutes(dependencies));
  routes.include(contactRoutes(dependencies));
  routes.include(contactLinkRoutes(dependencies));
  routes.include(stepUpRoutes(dependencies));
  routes.include(signInRoutes(dependencies));
  routes.include(identityRoutes(dependencies));
  routes.include(credentialRoutes(dependencies));
  routes.include(auditRoutes(dependencies));
  routes.include(exportRoutes(dependencies));
  routes.include(administrationRoutes(dependencies));
  return routes;
}
