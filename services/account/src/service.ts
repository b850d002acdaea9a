import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type PageLimits, requestLoader } from "@signalbox/graphql";
import type { Mounts } from "@signalbox/http";
import type { ServiceContext, ServiceParts } from "@signalbox/runtime";
import { openService, refusalOf, startCanary } from "@signalbox/service";
import { atStart, createSealer, databaseOptions, openPool, type Pool } from "@signalbox/storage";
import { whyAudited } from "./audit/why-audited.ts";
import { type Opened, openBase } from "./base.ts";
import { canaryChanges } from "./canary/canary.ts";
import { confirmationPath } from "./contacts/contact-link.ts";
import { createContactLinkListener } from "./contacts/contact-link-pages.ts";
import { openContacts } from "./contacts/open-contacts.ts";
import { whyApiKey } from "./credentials/api-key.ts";
import { type EdgeParts, serviceEdges } from "./edges.ts";
import { type AccountExport, createAccountExport, openRemoteSections, ownSectionsOf } from "./export/account-export.ts";
import { firstLinkPath } from "./first-link/first-link.ts";
import type { LimiterOf } from "./identity/callers/callers.ts";
import { createFirstLinkListener } from "./identity/first-link-pages.ts";
import { createInvitationListener } from "./identity/invitation-pages.ts";
import { metadataPrefix, mountPath } from "./identity/issuer-settings.ts";
import { createProtectedResource, resourceMetadataPrefix } from "./identity/protected-resource.ts";
import { sealedSigningKeys } from "./identity/signing-keys/signing-key-store.ts";
import { sealedState } from "./identity/state/state-store.ts";
import { invitationsPath } from "./invitations/invitation.ts";
import { openInvitations } from "./invitations/open-invitations.ts";
import { openLogins, openProofs, openSignIns } from "./logins.ts";
import { sealedMails } from "./mail/mail-queue.ts";
import { openAdministration } from "./open-administration.ts";
import { openCredentials } from "./open-credentials.ts";
import { createPages } from "./pages/pages.ts";
import { type EndpointCheck, openEndpointCheck } from "./portal-sessions/endpoint-check.ts";
import { principalRoutes } from "./principals/principal-routes.ts";
import { type Accounts, createAccounts } from "./profile/accounts.ts";
import type { Configured, Properties } from "./properties.ts";
import { whySignedIn } from "./sign-ins/why-signed-in.ts";
import { startWorkers } from "./workers.ts";

/** Every sealed column of this service. */
const sealedColumns = [sealedMails, sealedState, sealedSigningKeys];

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));
const schemaFile = new URL("../schema.graphql", import.meta.url);

/** Manages accounts: their existence, credentials, permissions and settings. */
export async function createService(context: ServiceContext<Properties>): Promise<ServiceParts> {
  const { configuration, log } = context;
  const sealer = createSealer(configuration.get("secrets.keys"));
  const opened = await openService(context, { prismaDirectory, sealer, sealedColumns });
  const { pool, eventLog, outbox, accessStates, limiterOf, pageLimits, consume, serve } = opened;
  const tries = { max: 2, applicationName: "account-tries" };
  const counting = openPool({ ...databaseOptions(configuration), ...context, ...tries });
  const capabilities = openCapabilities(context, { pool, outbox, accessStates, counting, limiterOf });
  const { base, credentials, signIns, logins, administration } = capabilities;
  const { issuer } = signIns;
  const atOurStart = { waitMs: configuration.get("database.start-wait"), log };
  await atStart(async () => issuer?.open(), atOurStart);
  // Before a person signs in with an address that is not settled yet.
  await atStart(() => base.verifiedAddresses.settle(), atOurStart);
  startWorkers(context, {
    base,
    apiKeys: credentials.apiKeys,
    serviceClients: credentials.serviceClients,
    accountPurge: administration.accountPurge,
    auditDayTables: administration.auditDayTables,
    issuer,
    eventLog,
  });
  startCanary(context, opened, canaryChanges);
  consume("audit", { "audit.recorded": (event, { tx }) => base.audit.take(tx, event) });
  const accountExport = openExport(context, capabilities);
  const checkEndpoints = openEndpointCheck(context);

  return serve({
    title: "Signalbox accounts",
    principals: logins.principals,
    edges: serviceEdges(edgePartsOf(context, { capabilities, accountExport, checkEndpoints, pageLimits })),
    internalRoutes: [
      principalRoutes({
        principals: logins.principals,
        accountStore: base.accountStore,
        rolesAreOurs: administration.rolesAreOurs,
      }),
    ],
    whyFinders: [
      ...whyAudited({ auditStore: administration.auditStore, nowMs: () => context.clock.nowMs() }),
      whyApiKey(credentials.apiKeyStore),
      ...whySignedIn({ pool, signInStore: signIns.signInStore, now: () => context.clock.now() }),
    ],
    typeDefs: await readFile(schemaFile, "utf8"),
    mounts: issuerMounts(context, capabilities),
    onForbidden: (request) => base.auditRefusals.record(refusalOf(request)),
  });
}

interface OpenedAccount extends Opened {
  /**
   * The pool of statements that count even when the surrounding transaction rolls back. It is separate, because
   * transactions could otherwise take all connections and then wait for one.
   */
  readonly counting?: Pool;
  /** Counts requests over all services; absent in a process without a listener. */
  readonly limiterOf?: LimiterOf;
}

/** The capabilities of the service, by the folder or story that they belong to. */
export type Capabilities = ReturnType<typeof openCapabilities>;

/** Opens every capability of the service, each from those above it. */
export function openCapabilities(context: Configured, opened: OpenedAccount) {
  const { pool, counting = pool, limiterOf } = opened;
  const base = openBase(context, opened);
  const proofs = openProofs(context, base, counting);
  const credentials = openCredentials(context, base);
  const pages = createPages(context);
  const invitations = openInvitations(context, base);
  const { registration } = invitations;
  const signIns = openSignIns(context, { base, proofs, credentials, registration, pages, limiterOf });
  const { issuer, issuedTokens } = signIns;
  const logins = openLogins(context, { base, proofs, credentials, registration, issuer });
  const { identities } = logins;
  const signsInByMail = issuer !== null;
  const contacts = openContacts(context, { base, proofs, identities, issuedTokens, signsInByMail });
  const administration = openAdministration(context, { base, credentials, rolesAreOurs: signsInByMail });
  return { base, proofs, credentials, pages, invitations, signIns, logins, contacts, administration };
}

/** Opens the export of an account, with the lists of other services. */
function openExport(
  context: ServiceContext<Properties>,
  { base, credentials, signIns, logins, administration }: Capabilities,
) {
  const { pool, accountStore, audit } = base;
  const { apiKeyStore, serviceClientStore } = credentials;
  const { clock } = context;
  const ownSections = ownSectionsOf({
    identities: logins.identities,
    apiKeyStore,
    serviceClientStore,
    signInStore: signIns.signInStore,
    passkeyStore: signIns.passkeyStore,
    auditStore: administration.auditStore,
    clock,
  });
  const remoteSections = openRemoteSections(context);
  return createAccountExport({ pool, accountStore, audit, clock, ownSections, remoteSections });
}

interface EdgeDependencies {
  readonly capabilities: Capabilities;
  readonly accountExport: AccountExport;
  readonly checkEndpoints: EndpointCheck;
  readonly pageLimits: PageLimits;
}

/** Hands the operations and stores of each capability to its edges. */
export function edgePartsOf(
  context: Configured,
  { capabilities, accountExport, checkEndpoints, pageLimits }: EdgeDependencies,
): EdgeParts {
  const { configuration, clock } = context;
  const { base, proofs, pages, invitations, signIns, logins, contacts, administration } = capabilities;
  const { accountStore, accountRecords } = base;
  const { contactChanges, contactConfirmations, contactLinks } = contacts;
  const { signInList, passkeyStore, passkeys, applications, applicationStore } = signIns;
  const { statuses, auditStore, administratorReads } = administration;
  const accounts = createAccounts({ accountStore, accountRecords, contactChanges, clock });
  const loadAccount = requestLoader(accountStore.findMany, ({ id }) => id);
  const supportedLocales = () => configuration.get("supported.locales");
  return {
    account: {
      accounts: { accounts, loadAccount, administratorReads, supportedLocales },
      status: { accounts, statuses },
      contact: { accounts, contactChanges, contactConfirmations },
      contactLinks: { accounts, contactLinks, pages, clock },
      stepUp: { accounts, stepUps: proofs.stepUps },
      export: { accountExport },
    },
    people: {
      signIns: { accounts, signInList, administratorReads, pageLimits },
      identities: { accounts, identities: logins.identities, pageLimits },
      passkeys: { accounts, passkeyStore, passkeys, pageLimits },
      invitations: { invitations: invitations.invitations, supportedLocales, pageLimits, clock },
    },
    credentials: credentialParts(context, { capabilities, accounts, checkEndpoints, pageLimits }),
    administration: {
      applications: { applications, applicationStore, pageLimits, clock },
      audit: { accounts, auditStore, administratorReads, pageLimits },
      accounts: {
        changes: {
          accounts,
          statuses,
          accountRoles: administration.accountRoles,
          accountCreation: administration.accountCreation,
          supportedLocales,
          clock,
        },
        reads: {
          accounts,
          loadAccount,
          accountSearch: administration.accountSearch,
          administratorReads,
          pageLimits,
        },
      },
    },
  };
}

interface CredentialDependencies {
  readonly capabilities: Capabilities;
  readonly accounts: Accounts;
  readonly checkEndpoints: EndpointCheck;
  readonly pageLimits: PageLimits;
}

function credentialParts(
  { configuration, clock }: Configured,
  {
    capabilities: { administration, credentials, signIns },
    accounts,
    checkEndpoints,
    pageLimits,
  }: CredentialDependencies,
): EdgeParts["credentials"] {
  const { apiKeyStore, apiKeys, serviceClientStore, serviceClients, portalSessions, portalSessionStore } = credentials;
  const { credentialRevocations } = credentials;
  const baseUrl = configuration.get("http.base-url");
  const { administratorReads } = administration;
  const shared = { accounts, administratorReads, credentialRevocations, pageLimits };
  return {
    apiKeys: { ...shared, apiKeyStore, apiKeys, clock },
    serviceClients: { ...shared, serviceClientStore, serviceClients, clock },
    current: { apiKeyStore, serviceClientStore, signInStore: signIns.signInStore, clock },
    portalSessions: { portalSessions, portalSessionStore, accounts, checkEndpoints, baseUrl, pageLimits, clock },
  };
}

/** The first match answers. */
function issuerMounts(context: Configured, capabilities: Capabilities): Mounts {
  const { base, contacts, invitations, signIns, pages } = capabilities;
  const { issuer, firstLinks } = signIns;
  const resource = { [resourceMetadataPrefix]: createProtectedResource(context) };
  if (issuer === null) return resource;
  const { pool, accountStore } = base;
  const { contactLinks } = contacts;
  const { invitationAcceptance } = invitations;
  return {
    ...resource,
    [confirmationPath]: createContactLinkListener(context, { pool, accountStore, contactLinks, issuer, pages }),
    [invitationsPath]: createInvitationListener(context, { pool, accountStore, invitationAcceptance, issuer, pages }),
    [firstLinkPath]: createFirstLinkListener(context, { firstLinks, issuer, pages }),
    [mountPath]: issuer.listener,
    [metadataPrefix]: issuer.listener,
  };
}
