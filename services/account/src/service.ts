import { fileURLToPath } from "node:url";
import {
  builtInIssuer,
  createAuthenticator,
  createManagementAuthorizer,
  createTokenVerifier,
  internalTokenHeader,
  parseIssuers,
  type TokenVerifier,
} from "@signalbox/auth";
import { type Clock, MiB, seconds } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import {
  followConfiguration,
  openDatabase,
  openEdgeLimits,
  openOutbox,
  openServiceLog,
  openStates,
} from "@signalbox/foundation";
import { createClientAddress, createHttpApp, createIdempotencyStore, createInternalApp } from "@signalbox/http";
import { createInternalClient } from "@signalbox/net";
import type { ServiceContext, ServiceParts } from "@signalbox/runtime";
import { createSealer, databaseOptions, openPool, type Pool, prismaAdapter, type Sealer } from "@signalbox/storage";
import { type AccessLog, createAccessLog } from "./access/access-log.ts";
import { type AskAgain, createAskAgain } from "./access/ask-again.ts";
import { createRepeatAccess } from "./access/repeat-access.ts";
import { type AccountStore, createAccountStore } from "./accounts/account-store.ts";
import { createMakeAccount } from "./accounts/make-account.ts";
import { createProvisionAccount } from "./accounts/provision-account.ts";
import { createUpdateAccount } from "./accounts/update-account.ts";
import { createAccountSearchStore } from "./administration/account-search-store.ts";
import { createAnnounceEndedKeys } from "./api-keys/announce-ended-keys.ts";
import { viewApiKey } from "./api-keys/api-key.ts";
import { createApiKeyStore } from "./api-keys/api-key-store.ts";
import { createCreateFirstKey } from "./api-keys/create-first-key.ts";
import { createIssueApiKey } from "./api-keys/issue-api-key.ts";
import { createRenameApiKey } from "./api-keys/rename-api-key.ts";
import { createRevokeApiKey } from "./api-keys/revoke-api-key.ts";
import { createRotateApiKey } from "./api-keys/rotate-api-key.ts";
import { type Audit, createAudit } from "./audit/audit.ts";
import { createAuditDayStore } from "./audit/audit-day-store.ts";
import { viewOwnAuditEntry } from "./audit/audit-entry.ts";
import { createAuditStore } from "./audit/audit-store.ts";
import { createKeepAuditDays } from "./audit/keep-audit-days.ts";
import { createNoteRefusal, refusalOf } from "./audit/note-refusal.ts";
import { createChangeClient } from "./clients/change-client.ts";
import { createClientStore } from "./clients/client-store.ts";
import { createMakeClient } from "./clients/make-client.ts";
import { viewServiceClient } from "./clients/service-client.ts";
import { createOneTimeCodes, type OneTimeCodes } from "./codes/one-time-codes.ts";
import { createTrimCodes } from "./codes/trim-codes.ts";
import { createAdoptContact } from "./contacts/adopt-contact.ts";
import { createCancelContactChange } from "./contacts/cancel-contact-change.ts";
import { createConfirmContact } from "./contacts/confirm-contact.ts";
import { createConfirmContactByLink } from "./contacts/confirm-contact-by-link.ts";
import { createContactLinkStore } from "./contacts/contact-link-store.ts";
import { createEndConfirmation } from "./contacts/end-confirmation.ts";
import { createFollowContactChange } from "./contacts/follow-contact-change.ts";
import { createHolderMails } from "./contacts/holder-mails.ts";
import { createObjectToContactChange } from "./contacts/object-to-contact-change.ts";
import { createResendContactCode } from "./contacts/resend-contact-code.ts";
import { createTrimContactLinks } from "./contacts/trim-contact-links.ts";
import { createPurgeAccounts } from "./deletion/purge-accounts.ts";
import { createPurgeStore } from "./deletion/purge-store.ts";
import { createExportAccount } from "./export/export-account.ts";
import { ownSection } from "./export/export-section.ts";
import { remoteSection } from "./export/remote-section.ts";
import { PrismaClient } from "./generated/prisma/client.ts";
import { createAccountSubgraph } from "./graphql/subgraph.ts";
import { createIdentityOfToken } from "./identities/identity-of-token.ts";
import { createIdentityStore } from "./identities/identity-store.ts";
import { createLinkIdentity } from "./identities/link-identity.ts";
import { createUnlinkIdentity } from "./identities/unlink-identity.ts";
import { createMailQueue } from "./mail/mail-queue.ts";
import { createMails, type Mails } from "./mail/mails.ts";
import { openMailTransport } from "./mail/open-mail-transport.ts";
import { createSendDueMails } from "./mail/send-due-mails.ts";
import { createWakeUp } from "./mail/wake-up.ts";
import { createAccountSignInStore } from "./oauth/account-sign-in-store.ts";
import { parseApplications } from "./oauth/applications.ts";
import { type BuiltInIssuer, createBuiltInIssuer } from "./oauth/built-in-issuer.ts";
import { cookieKeysFrom } from "./oauth/cookie-keys.ts";
import { createEndSignIns } from "./oauth/end-sign-ins.ts";
import { createIssuing, type Issuing } from "./oauth/issuing.ts";
import { createPrincipalFromApiKey } from "./principals/principal-from-api-key.ts";
import { createPrincipalFromToken } from "./principals/principal-from-token.ts";
import { principalRoutes } from "./principals/principal-routes.ts";
import { createResolvePrincipal } from "./principals/resolve-principal.ts";
import type { Properties } from "./properties.ts";
import { publicRoutes } from "./routes.ts";
import { createChangeAccountStatus } from "./statuses/change-account-status.ts";
import { createRequestRecovery } from "./statuses/request-recovery.ts";
import { createCompleteStepUp } from "./step-up/complete-step-up.ts";
import { createEndStepUps } from "./step-up/end-step-ups.ts";
import { createRequestStepUp } from "./step-up/request-step-up.ts";
import { createStepUpStore, type StepUpStore } from "./step-up/step-up-store.ts";
import { createTrimStepUps } from "./step-up/trim-step-ups.ts";
import { startWorkers } from "./workers.ts";

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));

/** What the routes and resolvers may call. */
export type Verbs = ReturnType<typeof createVerbs>;

/** Knows the accounts: who exists, who is asking, what they may do, and the settings they chose. */
export async function createService(context: ServiceContext<Properties>): Promise<ServiceParts> {
  const { configuration, service, log, runner, clock } = context;
  const pool = await openDatabase(context, prismaDirectory);
  const eventLog = await openServiceLog(context);
  await followConfiguration(context, eventLog);
  const { outbox } = openOutbox(context, pool, eventLog);
  const accessStates = await openStates(context, eventLog);
  const { rateLimits } = await openEdgeLimits(context);

  const counting = openPool({
    ...databaseOptions(configuration),
    ...context,
    max: 2,
    applicationName: "account-tries",
  });
  const verbs = createVerbs(context, pool, outbox, counting);
  const authenticator = createAuthenticator({
    principals: verbs.principals,
    accessStates,
    clock,
    cacheMax: configuration.get("auth.principals.cache-max"),
  });
  const idempotency = createIdempotencyStore({ service, pool, sealer: verbs.sealer, clock });
  const oauth = verbs.issuing && (await openBuiltInIssuer(context, pool, verbs, verbs.issuing));
  startWorkers(runner, { ...verbs, idempotency, oauth });

  const exportAccount = openExport(context, pool, verbs);
  const published = {
    routes: publicRoutes({ ...verbs, exportAccount }),
    openapi: { title: "Signalbox accounts", version: "1" },
  };
  return {
    public: createHttpApp({
      context,
      routes: published.routes,
      authenticator,
      rateLimits,
      idempotency,
      onForbidden: (request) => verbs.noteRefusal(refusalOf(request)),
      openapi: published.openapi,
      mounts: oauth ? { "/oauth": oauth.listener } : {},
    }),
    internal: createInternalApp({
      context,
      tokens: () => configuration.get("internal.token"),
      routes: principalRoutes(verbs),
      mounts: { "/graphql": await createAccountSubgraph(verbs, log) },
      published,
    }),
    authorizeManagement: createManagementAuthorizer(authenticator),
  };
}

type Configured = Pick<ServiceContext<Properties>, "configuration" | "clock" | "log" | "metrics">;

/**
 * Joins the verbs to their stores. `counting` is for statements that count whatever becomes of the transaction around
 * them: a pool of its own, or transactions could take all connections and then wait for one.
 */
export function createVerbs(context: Configured, pool: Pool, outbox: Outbox, counting: Pool = pool) {
  const { configuration, clock, log } = context;
  const prisma = new PrismaClient({ adapter: prismaAdapter(pool) });
  const accounts = createAccountStore(pool, prisma);
  const apiKeys = createApiKeyStore(prisma);
  const clients = createClientStore(prisma);
  const sealer = createSealer(configuration.get("secrets.keys"));
  const audit = createAudit({ clock });
  const auditRetention = { clock, retentionDays: () => configuration.get("account.audit.retention-days") };
  const auditEntries = createAuditStore({ ...auditRetention, prisma });
  const noteRefusal = createNoteRefusal({
    pool,
    audit,
    clock,
    onFailure: (error) => log.error({ error }, "a refusal could not be written to the audit"),
  });
  const accessLog = createAccessLog({ outbox });
  const writing = { pool, outbox, audit, clock };
  const { mails, sendDueMails } = createMailing(context, pool);
  const oneTimeCodes = createOneTimeCodes({ keys: configuration.get("secrets.keys"), counting, clock });
  const askAgain = createAskAgain({ accessLog, clock });
  const stepUps = createStepUpStore(pool);
  const proving = { ...writing, accounts, accessLog, askAgain, stepUps, oneTimeCodes, mails };
  const { followContactChange, ...contactVerbs } = createContactVerbs(context, proving);

  const makeAccount = createMakeAccount({
    ...writing,
    accounts,
    firstValues: () => ({
      supportedLocales: configuration.get("supported.locales"),
      defaultLocale: configuration.get("defaults.locale"),
      requireVerifiedContact: configuration.get("account.require-verified-contact"),
    }),
  });
  const provisionAccount = createProvisionAccount({ pool, accounts, makeAccount });
  const issuing = createIssuingIfAlone(context, pool, sealer);
  const tokens = createTokens(context, issuing);
  const principals = createPrincipals(context, { tokens, accounts, apiKeys, provisionAccount, stepUps, noteRefusal });
  const identities = createIdentityStore(pool);
  const identityOfToken = createIdentityOfToken({ tokens });
  const keyRules = {
    keyEnvironment: configuration.get("account.api-keys.environment"),
    keysMax: () => configuration.get("account.api-keys.max"),
  };
  const issueApiKey = createIssueApiKey({ ...writing, ...keyRules, apiKeys });
  const changeAccountStatus = createChangeAccountStatus({ ...writing, accounts, accessLog });

  return {
    accounts,
    auditEntries,
    accountSearch: createAccountSearchStore(prisma),
    apiKeys,
    clients,
    principals,
    tokens,
    issuing,
    sealer,
    accessLog,
    audit,
    makeAccount,
    clock,
    updateAccount: createUpdateAccount({ ...writing, accounts, followContactChange }),
    ...contactVerbs,
    requestStepUp: createRequestStepUp(proving),
    completeStepUp: createCompleteStepUp(proving),
    trimStepUps: createTrimStepUps(proving),
    identities,
    identityOfToken,
    linkIdentity: createLinkIdentity({ ...proving, identities, identityOfToken }),
    unlinkIdentity: createUnlinkIdentity({ ...proving, identities, signsInByMail: issuing !== null }),
    issueApiKey,
    changeAccountStatus,
    requestRecovery: createRequestRecovery({ ...writing, accounts }),
    createFirstKey: createCreateFirstKey({ pool, provisionAccount, changeAccountStatus, issueApiKey }),
    renameApiKey: createRenameApiKey({ ...writing, apiKeys }),
    rotateApiKey: createRotateApiKey({ ...writing, ...keyRules, apiKeys, accessLog }),
    revokeApiKey: createRevokeApiKey({ ...writing, apiKeys, accessLog }),
    announceEndedKeys: createAnnounceEndedKeys({ ...writing, apiKeys, accessLog }),
    makeClient: createMakeClient({
      ...writing,
      accounts,
      clients,
      clientsMax: () => configuration.get("account.clients.max"),
    }),
    changeClient: createChangeClient({ ...writing, clients, accessLog }),
    noteRefusal,
    mails,
    oneTimeCodes,
    sendDueMails,
    trimCodes: createTrimCodes({ pool, clock }),
    keepAuditDays: createKeepAuditDays({ ...auditRetention, auditDays: createAuditDayStore({ pool }) }),
    repeatAccess: createRepeatAccess({ pool, accessLog, clock }),
    purgeAccounts: createPurgeAccounts({
      ...writing,
      accounts,
      accessLog,
      purges: createPurgeStore({ pool }),
      retentionDays: () => configuration.get("account.retention-days"),
    }),
    supportedLocales: () => configuration.get("supported.locales"),
    pageLimits: {
      maxPageSize: () => configuration.get("limits.maxPageSize"),
      pageSize: () => configuration.get("defaults.pageSize"),
    },
  };
}

/** What the verbs write with that prove who somebody is. */
interface Proving {
  readonly pool: Pool;
  readonly outbox: Outbox;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly accounts: AccountStore;
  readonly accessLog: AccessLog;
  readonly askAgain: AskAgain;
  readonly stepUps: StepUpStore;
  readonly oneTimeCodes: OneTimeCodes;
  readonly mails: Mails;
}

/** What becomes of a new contact address: the verbs of its two holders, the one in use and the one that waits. */
function createContactVerbs({ configuration }: Configured, parts: Proving) {
  const { pool, oneTimeCodes, mails, clock } = parts;
  const contactLinks = createContactLinkStore(pool);
  const baseUrl = configuration.get("http.base-url");
  const objectionHours = () => configuration.get("account.contact.objection-window");
  const holderMails = createHolderMails({ oneTimeCodes, contactLinks, mails, clock, baseUrl, objectionHours });
  const endConfirmation = createEndConfirmation({ oneTimeCodes, contactLinks, clock });
  const endStepUps = createEndStepUps(parts);
  const endSignIns = createEndSignIns({ ...parts, signIns: createAccountSignInStore() });
  const joined = { ...parts, contactLinks, holderMails, endConfirmation, endStepUps, endSignIns };
  const adoptContact = createAdoptContact(joined);
  return {
    contactLinks,
    followContactChange: createFollowContactChange(joined),
    confirmContact: createConfirmContact({ ...joined, adoptContact }),
    confirmContactByLink: createConfirmContactByLink({ ...joined, adoptContact }),
    resendContactCode: createResendContactCode(joined),
    cancelContactChange: createCancelContactChange(joined),
    objectToContactChange: createObjectToContactChange(joined),
    trimContactLinks: createTrimContactLinks(joined),
  };
}

/** What other services hold for an account, by the member of the document that has it. */
const heldElsewhere = [
  ["images", "images.internal-url"],
  ["webhook_sources", "webhook-ingest.internal-url"],
  ["webhook_endpoints", "webhook-delivery.internal-url"],
] as const;

/** The export of an account, from this service's own lists and those of others. */
function openExport({ configuration, runner }: ServiceContext<Properties>, pool: Pool, verbs: Verbs) {
  const { accounts, identities, apiKeys, clients, auditEntries, audit, clock } = verbs;
  const own = [
    ownSection("identities", {
      // One page: an account has a bounded few.
      list: (accountId) => identities.list(accountId),
      positionOf: () => null,
      view: ({ issuer, subject, createdAt }) => ({ issuer, subject, created_at: createdAt.toISOString() }),
    }),
    ownSection("api_keys", {
      list: apiKeys.list,
      positionOf: ({ createdAt, id }) => ({ createdAt, id }),
      view: (key) => viewApiKey(key, clock.now()),
    }),
    ownSection("service_clients", {
      list: clients.list,
      positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
      view: (client) => viewServiceClient(client, clock.now()),
    }),
    ownSection("audit", { list: auditEntries.list, positionOf: ({ id }) => id, view: viewOwnAuditEntry }),
  ];
  const remote = heldElsewhere.flatMap(([name, property]) => {
    const url = configuration.get(property);
    if (url === null) return [];
    const headers = () => ({ [internalTokenHeader]: configuration.get("internal.token")[0] ?? "" });
    const client = createInternalClient({ url, headers, deadlineMs: seconds(10), responseBytesMax: 16 * MiB });
    runner.defer(`${name} client`, () => client.close());
    return [remoteSection(name, client)];
  });
  const asked = new Set(remote.map(({ name }) => name));
  const leftOut = heldElsewhere.map(([name]) => name).filter((name) => !asked.has(name));
  return createExportAccount({ pool, accounts, audit, clock, sections: [...own, ...remote], leftOut });
}

/** The queue of mails, and the worker that sends what is in it. */
function createMailing({ configuration, clock, log, metrics }: Configured, pool: Pool) {
  const queue = createMailQueue(pool, createSealer(configuration.get("secrets.keys")));
  // Another instance that was killed leaves mails behind; this is how soon they are looked for.
  const wakeUp = createWakeUp(seconds(1));
  const transport = openMailTransport(configuration.get("mail.url"), configuration.get("mail.from"));
  return {
    mails: createMails({ queue, clock, baseUrl: configuration.get("http.base-url"), wake: wakeUp.wake }),
    sendDueMails: createSendDueMails({ queue, transport, wakeUp, clock, log, metrics }),
  };
}

/** The keys of the built-in issuer, which runs when no other is configured. */
function createIssuingIfAlone({ configuration, clock }: Configured, pool: Pool, sealer: Sealer): Issuing | null {
  if (parseIssuers(configuration.get("auth.issuers")).length > 0) return null;
  return createIssuing({
    pool,
    sealer,
    clock,
    baseUrl: configuration.get("http.base-url"),
    rotationDays: () => configuration.get("account.oauth.key-rotation-days"),
  });
}

function createTokens({ configuration, clock, log }: Configured, issuing: Issuing | null): TokenVerifier {
  return createTokenVerifier({
    issuers: issuing ? [issuing.issuer] : parseIssuers(configuration.get("auth.issuers")),
    clock,
    clockSkewSeconds: configuration.get("auth.clock-skew"),
    onKeysFailure: (issuer, error) => log.warn({ issuer, error }, "the keys of an issuer could not be read"),
    localKeys: issuing ? { [builtInIssuer]: issuing.keys } : {},
  });
}

/** Makes the first key where there is none, and answers the issuer that signs with it. */
async function openBuiltInIssuer(
  { configuration, log }: Configured,
  pool: Pool,
  verbs: Verbs,
  issuing: Issuing,
): Promise<BuiltInIssuer> {
  const applications = parseApplications(configuration.get("account.oauth.applications"));
  await issuing.keepSigningKeys();
  return createBuiltInIssuer({
    ...verbs,
    ...issuing,
    pool,
    log,
    applications,
    accessTokenSeconds: configuration.get("account.oauth.access-token-minutes") * 60,
    cookieKeys: cookieKeysFrom(configuration.get("secrets.keys")),
    clientAddress: createClientAddress(configuration.get("http.trusted-proxies")),
    defaultLocale: () => configuration.get("defaults.locale"),
  });
}

type PrincipalParts = Omit<Parameters<typeof createPrincipalFromApiKey>[0], "clock" | "onTouchFailure"> &
  Parameters<typeof createPrincipalFromToken>[0];

/** Whose credential is this: what this service's own edge asks, and every other service over the internal listener. */
function createPrincipals({ clock, log }: Configured, parts: PrincipalParts) {
  return createResolvePrincipal({
    principalFromToken: createPrincipalFromToken(parts),
    principalFromApiKey: createPrincipalFromApiKey({
      ...parts,
      clock,
      onTouchFailure: (error) => log.warn({ error }, "the use of an API key could not be noted"),
    }),
  });
}
