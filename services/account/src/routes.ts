import { createRoutes, type Routes } from "@signalbox/http";
import { accountRoutes, settingsRoutes } from "./accounts/account-routes.ts";
import { accountAccessRoutes } from "./administration/account-access-routes.ts";
import { administrationRoutes } from "./administration/administration-routes.ts";
import { auditRoutes } from "./audit/audit-routes.ts";
import type { Capabilities } from "./capabilities.ts";
import { contactLinkRoutes } from "./contacts/contact-link-routes.ts";
import { contactRoutes } from "./contacts/contact-routes.ts";
import { credentialRoutes } from "./credentials/credential-routes.ts";
import type { AccountExport } from "./export/account-export.ts";
import { exportRoutes } from "./export/export-routes.ts";
import { identityRoutes } from "./identities/identity-routes.ts";
import { signInRoutes } from "./sign-ins/sign-in-routes.ts";
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
  signInRoutes, // /api/account/sign-ins/
  identityRoutes, // /api/account/identities/
  credentialRoutes, // /api/account/api-keys/, /api/account/current-api-key/ and /api/account/clients/
  auditRoutes, // /api/account/audit/ and /api/accounts/{id}/audit/
  exportRoutes, // /api/account/export/
  administrationRoutes, // /api/accounts/
  accountAccessRoutes, // /api/accounts/{id}/api-keys/, /api/accounts/{id}/clients/ and /api/accounts/{id}/sign-ins/
];

export function publicRoutes(capabilities: Routed): Routes {
  const routes = createRoutes();
  for (const table of tables) routes.include(table(capabilities));
  return routes;
}
