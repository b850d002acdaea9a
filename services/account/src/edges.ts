import { type Edges, joinEdges } from "@signalbox/service";
import { type AccountApi, accountApi } from "./accounts/account-api.ts";
import { type AdministrationApi, administrationApi } from "./administration/administration-api.ts";
import { type AuditApi, auditApi } from "./audit/audit-api.ts";
import { type ContactApi, contactApi } from "./contacts/contact-api.ts";
import { type ContactLinkRoutes, contactLinkRoutes } from "./contacts/contact-link-pages.ts";
import { type ApiKeyApi, apiKeyApi } from "./credentials/api-keys.ts";
import { type CurrentCredentialApi, currentCredentialApi } from "./credentials/current-credential.ts";
import { type ServiceClientApi, serviceClientApi } from "./credentials/service-clients.ts";
import { type ExportRoutes, exportRoutes } from "./export/export-routes.ts";
import { type IdentityApi, identityApi } from "./identities/identity-api.ts";
import { type InvitationApi, invitationApi } from "./invitations/invitation-api.ts";
import { type SignInApi, signInApi } from "./sign-ins/sign-in-list.ts";
import { type StatusApi, statusApi } from "./statuses/status-api.ts";
import { type StepUpApi, stepUpApi } from "./step-up/step-up-api.ts";

export type EdgeParts = AccountApi &
  StatusApi &
  ContactApi &
  ContactLinkRoutes &
  StepUpApi &
  SignInApi &
  IdentityApi &
  ApiKeyApi &
  ServiceClientApi &
  CurrentCredentialApi &
  AuditApi &
  InvitationApi &
  ExportRoutes &
  AdministrationApi;

/** The routes of this service, and its fields of the graph. */
export const serviceEdges = (parts: EdgeParts): Edges =>
  joinEdges([
    accountApi(parts), // /api/account/, /api/account/settings/ and /api/settings/
    statusApi(parts), // /api/account/status/, /api/account/recovery/ and DELETE /api/account/
    contactApi(parts), // /api/account/contact-change/
    { routes: contactLinkRoutes(parts) }, // /api/account/contact-links/{token}
    stepUpApi(parts), // /api/account/step-up/
    signInApi(parts), // /api/account/sign-ins/ and /api/accounts/{id}/sign-ins/
    identityApi(parts), // /api/account/identities/
    apiKeyApi(parts), // /api/account/api-keys/, /api/account/current-api-key/ and /api/accounts/{id}/api-keys/
    serviceClientApi(parts), // /api/account/clients/ and /api/accounts/{id}/clients/
    currentCredentialApi(parts), // /api/account/credential/
    invitationApi(parts), // /api/v1/invitations/
    auditApi(parts), // /api/account/audit/, /api/accounts/audit/ and /api/accounts/{id}/audit/
    { routes: exportRoutes(parts) }, // /api/account/export/
    administrationApi(parts), // /api/accounts/
  ]);
