import { type AccessStates, parseIssuers } from "@signalbox/auth";
import { createRateLimiters } from "@signalbox/cache";
import type { Outbox } from "@signalbox/events";
import { requestLoader } from "@signalbox/graphql";
import { createAuditRefusals } from "@signalbox/service";
import { createDayTables, createSealer, dayMs, type Pool, prismaAdapter } from "@signalbox/storage";
import { createAccessAnnouncements } from "./access/access-announcements.ts";
import type { Account } from "./accounts/account.ts";
import { createAccountStore } from "./accounts/account-store.ts";
import { createAccounts } from "./accounts/accounts.ts";
import { createProvisioning } from "./accounts/provisioning.ts";
import { createAccountRoles } from "./administration/account-roles.ts";
import { createAccountSearchStore } from "./administration/account-search-store.ts";
import { createLastAdministrator } from "./administration/last-administrator.ts";
import { createAdministratorReads } from "./audit/administrator-reads.ts";
import { createAudit } from "./audit/audit.ts";
import { auditDays } from "./audit/audit-entry.ts";
import { createAuditStore } from "./audit/audit-store.ts";
import { createOneTimeCodes } from "./codes/one-time-codes.ts";
import { createContactChanges } from "./contacts/contact-changes.ts";
import { createContactLinkStore } from "./contacts/contact-link-store.ts";
import { createVerifiedAddresses } from "./contacts/verified-addresses.ts";
import { createApiKeyStore } from "./credentials/api-key.ts";
import { createApiKeys } from "./credentials/api-keys.ts";
import { createCredentialRevocations } from "./credentials/credential-revocations.ts";
import { createServiceClientStore } from "./credentials/service-client.ts";
import { createServiceClients } from "./credentials/service-clients.ts";
import { createAccountPurge } from "./deletion/account-purge.ts";
import { createPurgeStore } from "./deletion/purge-store.ts";
import { PrismaClient } from "./generated/prisma/client.ts";
import { createIdentities } from "./identities/identities.ts";
import { createIdentityStore } from "./identities/identity-store.ts";
import { createMails } from "./mail/mails.ts";
import { createNotices } from "./mail/notices.ts";
import { createIssuedTokens } from "./oauth/issued-tokens.ts";
import { createIssuer } from "./oauth/issuer.ts";
import type { LimiterOf } from "./oauth/request-limits.ts";
import { createStateStore } from "./oauth/state-store.ts";
import { createPages } from "./pages/pages.ts";
import { createPrincipals, createTokens } from "./principals/principals.ts";
import type { Configured } from "./properties.ts";
import { createSignInList } from "./sign-ins/sign-in-list.ts";
import { createSignInMails } from "./sign-ins/sign-in-mails.ts";
import { createSignInStore } from "./sign-ins/sign-in-store.ts";
import { createSignIns } from "./sign-ins/sign-ins.ts";
import { createStatuses } from "./statuses/statuses.ts";
import { createStepUpAllowances } from "./step-up/step-up-allowances.ts";
import { createStepUpStore } from "./step-up/step-up-store.ts";
import { createStepUps } from "./step-up/step-ups.ts";

/** The parts that routes, graph and workers may use. */
export type Capabilities = ReturnType<typeof createCapabilities>;

interface Opened {
  readonly pool: Pool;
  readonly outbox: Outbox;
  /** The access states that this process's own edge enforces; absent in a process without an edge. */
  readonly accessStates?: Pick<AccessStates, "apply">;
  /**
   * The pool of statements that count even when the surrounding transaction rolls back. It is separate, because
   * transactions could otherwise take all connections and then wait for one.
   */
  readonly counting?: Pool;
  /** Counts requests over all services; absent in a process without a listener. */
  readonly limiterOf?: LimiterOf;
}

/** Builds every capability of the service, each from those above it. */
export function createCapabilities(context: Configured, opened: Opened) {
  const { configuration } = context;
  const { limiterOf = localLimits(context) } = opened;
  const shared = createShared(context, opened);
  const proofs = createProofs(context, opened, shared);
  const credentials = createCredentialKinds(context, shared);
  const logins = createLogins(context, { ...shared, ...proofs, ...credentials, limiterOf });

  const retentionDays = () => configuration.get("account.retention-days");
  const rolesAreOurs = logins.issuer !== null;
  const lastAdministrator = createLastAdministrator(rolesAreOurs);
  const statuses = createStatuses({ ...shared, lastAdministrator, retentionDays });
  const contactLinks = createContactLinkStore(shared.pool);
  const contactChanges = createContactChanges({
    ...shared,
    ...proofs,
    ...logins,
    statuses,
    contactLinks,
    baseUrl: configuration.get("http.base-url"),
    signsInByMail: logins.issuer !== null,
    objectionHours: () => configuration.get("account.contact.objection-window"),
  });
  const accounts = createAccounts({ ...shared, contactChanges });
  const supportedLocales = () => configuration.get("supported.locales");

  return {
    ...shared,
    ...proofs,
    ...credentials,
    ...logins,
    contactLinks,
    contactChanges,
    accounts,
    supportedLocales,
    accountPurge: createAccountPurge({
      ...shared,
      purgeStore: createPurgeStore(shared),
      retentionDays,
    }),
    statuses,
    rolesAreOurs,
    loadAccount: requestLoader<Account>(accounts.findMany, ({ id }) => id),
    accountRoles: createAccountRoles({ ...shared, lastAdministrator, rolesAreOurs }),
    pageLimits: {
      maxPageSize: () => configuration.get("limits.maxPageSize"),
      pageSize: () => configuration.get("defaults.pageSize"),
    },
  };
}

type Shared = ReturnType<typeof createShared>;

/** The parts that most capabilities need: account storage, audit, access announcements, mails and pages. */
function createShared(context: Configured, { pool, outbox, accessStates }: Opened) {
  const { configuration, clock, log, metrics } = context;
  const prisma = new PrismaClient({ adapter: prismaAdapter(pool) });
  const accountStore = createAccountStore(pool, prisma);
  const audit = createAudit({ clock });
  const verifiedAddresses = createVerifiedAddresses({ pool, accounts: accountStore, audit, outbox, clock });
  const retentionDays = () => configuration.get("account.audit.retention-days");
  const sealer = createSealer(configuration.get("secrets.keys"));
  const mails = createMails(context, pool, sealer);
  return {
    pool,
    outbox,
    clock,
    log,
    sealer,
    mails,
    notices: createNotices({ mails, clock }),
    accountStore,
    accounts: accountStore,
    verifiedAddresses,
    accountSearch: createAccountSearchStore({ prisma }),
    audit,
    administratorReads: createAdministratorReads({ pool, audit, clock }),
    auditStore: createAuditStore({ pool, clock, retentionDays }),
    auditDayTables: createDayTables({ pool, clock, keepMs: () => retentionDays() * dayMs }, [auditDays]),
    auditRefusals: createAuditRefusals({
      clock,
      log,
      metrics,
      write: (refusal) => audit.recordRefusal(pool, refusal),
    }),
    access: createAccessAnnouncements({ pool, outbox, clock, accessStates }),
    pages: createPages({ configuration }),
  };
}

/** Proofs of holding an address: mailed codes, and step-ups by such codes. */
function createProofs(context: Configured, { pool, counting = pool }: Opened, shared: Shared) {
  const keys = context.configuration.get("secrets.keys");
  const oneTimeCodes = createOneTimeCodes({ keys, counting, clock: context.clock });
  const stepUpStore = createStepUpStore(pool);
  const allowances = createStepUpAllowances(context);
  const stepUps = createStepUps({ ...shared, oneTimeCodes, stepUps: stepUpStore, allowances, counting });
  return { oneTimeCodes, stepUpStore, stepUps };
}

/** API keys and service clients. */
function createCredentialKinds({ configuration }: Configured, shared: Shared) {
  const keys = createApiKeyStore(shared.pool);
  const clients = createServiceClientStore(shared.pool);
  const apiKeys = createApiKeys({
    ...shared,
    keys,
    keyEnvironment: configuration.get("account.api-keys.environment"),
    keysMax: () => configuration.get("account.api-keys.max"),
  });
  const clientsMax = () => configuration.get("account.clients.max");
  const hasIssuer = parseIssuers(configuration.get("auth.issuers")).length === 0;
  const serviceClients = createServiceClients({ ...shared, clients, clientsMax, hasIssuer });
  const credentialRevocations = createCredentialRevocations({ ...shared, keys, apiKeys, clients, serviceClients });
  return { keys, apiKeys, clients, serviceClients, credentialRevocations };
}

function localLimits({ clock }: Configured): LimiterOf {
  const limiters = createRateLimiters(clock);
  return (policy) => limiters(policy, { takeShares: async () => null });
}

type LoginParts = Shared &
  ReturnType<typeof createProofs> &
  ReturnType<typeof createCredentialKinds> & { readonly limiterOf: LimiterOf };

/** The logins of accounts, the built-in issuer unless another one is configured, and the principals of credentials. */
function createLogins(context: Configured, parts: LoginParts) {
  const { configuration } = context;
  const provisioning = createProvisioning({
    ...parts,
    firstValues: () => ({
      supportedLocales: configuration.get("supported.locales"),
      defaultLocale: configuration.get("defaults.locale"),
      requireVerifiedContact: configuration.get("account.require-verified-contact"),
    }),
  });
  const state = createStateStore(parts.pool, parts.sealer);
  const signInStore = createSignInStore(parts.pool);
  const issuedTokens = createIssuedTokens({ ...parts, state, signInStore });
  const signInList = createSignInList({ ...parts, signInStore, issuedTokens });
  const signInMails = createSignInMails({ keys: configuration.get("secrets.keys"), clock: context.clock });
  const signIns = createSignIns({ ...parts, provisioning, signInMails });
  const issuer = createIssuer(context, { ...parts, state, issuedTokens, signIns, signInStore });
  const tokens = issuer?.tokens ?? createTokens(context, parseIssuers(configuration.get("auth.issuers")));
  const identityStore = createIdentityStore(parts.pool);
  const identities = createIdentities({ ...parts, identityStore, tokens, signsInByMail: issuer !== null });
  const principals = createPrincipals(context, { ...parts, tokens, provisioning, rolesAreOurs: issuer !== null });
  return { provisioning, issuedTokens, signIns, signInStore, signInList, issuer, identities, principals };
}
