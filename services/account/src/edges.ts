import { type Edges, joinEdges } from "@signalbox/service";
import { administrationApi } from "./administration/administration-api.ts";
import { applicationApi } from "./applications/application-api.ts";
import { auditApi } from "./audit/audit-api.ts";
import { contactLinkRoutes } from "./contacts/contact-link-pages.ts";
import type { AccountService } from "./context/account-service.ts";
import { apiKeyApi } from "./credentials/api-keys.ts";
import { currentCredentialApi } from "./credentials/current-credential.ts";
import { serviceClientApi } from "./credentials/service-clients.ts";
import { exportRoutes } from "./export/export-routes.ts";
import { identityApi } from "./identities/identity-api.ts";
import { invitationApi } from "./invitations/invitation-api.ts";
import { memberApi } from "./members/member-api.ts";
import { passkeyApi } from "./passkeys/passkey-api.ts";
import { portalSessionApi } from "./portal-sessions/portal-sessions.ts";
import { accountApi } from "./profile/account-api.ts";
import { contactApi } from "./profile/contact-api.ts";
import { recoveryCodeApi } from "./recovery-codes/recovery-code-api.ts";
import { signInApi } from "./sign-ins/sign-in-list.ts";
import { statusApi } from "./statuses/status-api.ts";
import { stepUpApi } from "./step-up/step-up-api.ts";

/** The routes of this service, and its fields of the graph. */
export const serviceEdges = (service: AccountService): Edges =>
  joinEdges([
    accountApi(service), // /api/account/, /api/account/settings/ and /api/settings/
    statusApi(service), // /api/account/status/, /api/account/recovery/ and DELETE /api/account/
    contactApi(service), // /api/account/contact-change/
    { routes: contactLinkRoutes(service) }, // /api/account/contact-links/{token}
    stepUpApi(service), // /api/account/step-up/
    signInApi(service), // /api/account/sign-ins/ and /api/accounts/{id}/sign-ins/
    identityApi(service), // /api/account/identities/
    passkeyApi(service), // /api/account/passkeys/
    recoveryCodeApi(service), // /api/account/recovery-codes/
    apiKeyApi(service), // /api/account/api-keys/, /api/account/current-api-key/ and /api/accounts/{id}/api-keys/
    serviceClientApi(service), // /api/account/clients/ and /api/accounts/{id}/clients/
    currentCredentialApi(service), // /api/account/credential/
    portalSessionApi(service), // /api/v1/webhooks/portal-sessions
    invitationApi(service), // /api/v1/invitations/
    memberApi(service), // /api/account/members/ and /api/account/memberships/
    applicationApi(service), // /api/v1/oauth/applications
    auditApi(service), // /api/account/audit/, /api/accounts/audit/ and /api/accounts/{id}/audit/
    { routes: exportRoutes(service) }, // /api/account/export/
    administrationApi(service), // /api/accounts/
  ]);
