import { type Edges, joinEdges } from "@signalbox/service";
import { type AccountApi, accountApi } from "./accounts/account-api.ts";
import { type AdministrationApi, administrationApi } from "./administration/administration-api.ts";
import { type ApplicationApi, applicationApi } from "./applications/application-api.ts";
import { type AuditApi, auditApi } from "./audit/audit-api.ts";
import { type ContactApi, contactApi } from "./contacts/contact-api.ts";
import { type ContactLinkRoutes, contactLinkRoutes } from "./contacts/contact-link-pages.ts";
import { type ApiKeyApi, apiKeyApi } from "./credentials/api-keys.ts";
import { type CurrentCredentialApi, currentCredentialApi } from "./credentials/current-credential.ts";
import { type ServiceClientApi, serviceClientApi } from "./credentials/service-clients.ts";
import { type ExportRoutes, exportRoutes } from "./export/export-routes.ts";
import { type IdentityApi, identityApi } from "./identities/identity-api.ts";
import { type InvitationApi, invitationApi } from "./invitations/invitation-api.ts";
import { type PasskeyApi, passkeyApi } from "./passkeys/passkey-api.ts";
import { type PortalSessionApi, portalSessionApi } from "./portal-sessions/portal-sessions.ts";
import { type SignInApi, signInApi } from "./sign-ins/sign-in-list.ts";
import { type StatusApi, statusApi } from "./statuses/status-api.ts";
import { type StepUpApi, stepUpApi } from "./step-up/step-up-api.ts";

export type EdgeParts = AccountApi &
  ApplicationApi &
  StatusApi &
  ContactApi &
  ContactLinkRoutes &
  StepUpApi &
  SignInApi &
  IdentityApi &
  PasskeyApi &
  ApiKeyApi &
  ServiceClientApi &
  CurrentCredentialApi &
  PortalSessionApi &
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
    passkeyApi(parts), // /api/account/passkeys/
    apiKeyApi(parts), // /api/account/api-keys/, /api/account/current-api-key/ and /api/accounts/{id}/api-keys/
    serviceClientApi(parts), // /api/account/clients/ and /api/accounts/{id}/clients/
    currentCredentialApi(parts), // /api/account/credential/
    portalSessionApi(parts), // /api/v1/webhooks/portal-sessions
    invitationApi(parts), // /api/v1/invitations/
    applicationApi(parts), // /api/v1/oauth/applications
    auditApi(parts), // /api/account/audit/, /api/accounts/audit/ and /api/accounts/{id}/audit/
    { routes: exportRoutes(parts) }, // /api/account/export/
    administrationApi(parts), // /api/accounts/
  ]);
