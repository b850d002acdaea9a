import { type Edges, joinEdges } from "@signalbox/service";
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
import { type AccountApi, accountApi } from "./profile/account-api.ts";
import { type SignInApi, signInApi } from "./sign-ins/sign-in-list.ts";
import { type StatusApi, statusApi } from "./statuses/status-api.ts";
import { type StepUpApi, stepUpApi } from "./step-up/step-up-api.ts";

/** The dependencies of the edges, by capability. */
export interface EdgeParts {
  readonly account: {
    readonly accounts: AccountApi;
    readonly status: StatusApi;
    readonly contact: ContactApi;
    readonly contactLinks: ContactLinkRoutes;
    readonly stepUp: StepUpApi;
    readonly export: ExportRoutes;
  };
  readonly people: {
    readonly signIns: SignInApi;
    readonly identities: IdentityApi;
    readonly passkeys: PasskeyApi;
    readonly invitations: InvitationApi;
  };
  readonly credentials: {
    readonly apiKeys: ApiKeyApi;
    readonly serviceClients: ServiceClientApi;
    readonly current: CurrentCredentialApi;
    readonly portalSessions: PortalSessionApi;
  };
  readonly administration: {
    readonly applications: ApplicationApi;
    readonly audit: AuditApi;
    readonly accounts: AdministrationApi;
  };
}

/** The routes of this service, and its fields of the graph. */
export const serviceEdges = ({ account, people, credentials, administration }: EdgeParts): Edges =>
  joinEdges([
    accountApi(account.accounts), // /api/account/, /api/account/settings/ and /api/settings/
    statusApi(account.status), // /api/account/status/, /api/account/recovery/ and DELETE /api/account/
    contactApi(account.contact), // /api/account/contact-change/
    { routes: contactLinkRoutes(account.contactLinks) }, // /api/account/contact-links/{token}
    stepUpApi(account.stepUp), // /api/account/step-up/
    signInApi(people.signIns), // /api/account/sign-ins/ and /api/accounts/{id}/sign-ins/
    identityApi(people.identities), // /api/account/identities/
    passkeyApi(people.passkeys), // /api/account/passkeys/
    apiKeyApi(credentials.apiKeys), // /api/account/api-keys/, /api/account/current-api-key/ and /api/accounts/{id}/api-keys/
    serviceClientApi(credentials.serviceClients), // /api/account/clients/ and /api/accounts/{id}/clients/
    currentCredentialApi(credentials.current), // /api/account/credential/
    portalSessionApi(credentials.portalSessions), // /api/v1/webhooks/portal-sessions
    invitationApi(people.invitations), // /api/v1/invitations/
    applicationApi(administration.applications), // /api/v1/oauth/applications
    auditApi(administration.audit), // /api/account/audit/, /api/accounts/audit/ and /api/accounts/{id}/audit/
    { routes: exportRoutes(account.export) }, // /api/account/export/
    administrationApi(administration.accounts), // /api/accounts/
  ]);
