import { createRoutes, type Routes } from "@signalbox/http";
import { accountRoutes, settingsRoutes } from "./accounts/account-routes.ts";
import { administrationApi } from "./administration/administration-api.ts";
import { auditApi } from "./audit/audit-api.ts";
import type { Capabilities } from "./capabilities.ts";
import { contactLinkRoutes } from "./contacts/contact-link-routes.ts";
import { contactRoutes } from "./contacts/contact-routes.ts";
import { apiKeyApi } from "./credentials/api-keys.ts";
import { serviceClientApi } from "./credentials/service-clients.ts";
import type { AccountExport } from "./export/account-export.ts";
import { exportRoutes } from "./export/export-routes.ts";
import { identityRoutes } from "./identities/identity-routes.ts";
import { signInApi } from "./sign-ins/sign-in-list.ts";
import { statusRoutes } from "./statuses/status-routes.ts";
import { stepUpRoutes } from "./step-up/step-up-routes.ts";

interface Routed extends Capabilities {
  readonly accountExport: AccountExport;
}

/** Every public route of the account service, by its file. */
const tables: readonly ((capabilities: Routed) => Routes)[] = [
  accountRoutes, // /api/account/
  settingsRoutes, // /api/account/settings/ and /api/settings/
  statusRoutes, // /api/account/status/, /api/account/recovery/ and DELETE /api/account/
  contactRoutes, // /api/account/contact-change/
  contactLinkRoutes, // /api/account/contact-links/{token}
  stepUpRoutes, // /api/account/step-up/
  (parts) => signInApi(parts).routes, // /api/account/sign-ins/ and /api/accounts/{id}/sign-ins/
  identityRoutes, // /api/account/identities/
  (parts) => apiKeyApi(parts).routes, // /api/account/api-keys/, /api/account/current-api-key/ and /api/accounts/{id}/api-keys/
  (parts) => serviceClientApi(parts).routes, // /api/account/clients/ and /api/accounts/{id}/clients/
  (parts) => auditApi(parts).routes, // /api/account/audit/, /api/accounts/audit/ and /api/accounts/{id}/audit/
  exportRoutes, // /api/account/export/
  (parts) => administrationApi(parts).routes, // /api/accounts/
];

export function publicRoutes(capabilities: Routed): Routes {
  const routes = createRoutes();
  for (const table of tables) routes.include(table(capabilities));
  return routes;
}
