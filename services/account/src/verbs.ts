import { parseIssuers } from "@signalbox/auth";
import type { Outbox } from "@signalbox/events";
import { createSealer, inTransaction, type Pool, prismaAdapter } from "@signalbox/storage";
import { createAccessLog } from "./access/access-log.ts";
import { createAskAgain } from "./access/ask-again.ts";
import { createRepeatAccess } from "./access/repeat-access.ts";
import { createAccountStore } from "./accounts/account-store.ts";
import { createMakeAccount } from "./accounts/make-account.ts";
import { createProvisionAccount } from "./accounts/provision-account.ts";
import { createUpdateAccount } from "./accounts/update-account.ts";
import { createAccountSearchStore } from "./administration/account-search-store.ts";
import { createAudit } from "./audit/audit.ts";
import { createAuditDayStore } from "./audit/audit-day-store.ts";
import { createAuditStore } from "./audit/audit-store.ts";
import { createKeepAuditDays } from "./audit/keep-audit-days.ts";
import { createNoteRefusal } from "./audit/note-refusal.ts";
import { createOneTimeCodes } from "./codes/one-time-codes.ts";
import { createContactChanges } from "./contacts/contact-changes.ts";
import { createContactLinkStore } from "./contacts/contact-link-store.ts";
import { createApiKeyStore } from "./credentials/api-key.ts";
import { createApiKeys } from "./credentials/api-keys.ts";
import { createFirstKeyMaker } from "./credentials/create-first-key.ts";
import { createServiceClientStore } from "./credentials/service-client.ts";
import { createServiceClients } from "./credentials/service-clients.ts";
import { createPurgeAccounts } from "./deletion/purge-accounts.ts";
import { createPurgeStore } from "./deletion/purge-store.ts";
import { PrismaClient } from "./generated/prisma/client.ts";
import { createIdentities } from "./identities/identities.ts";
import { createIdentityStore } from "./identities/identity-store.ts";
import { createMails } from "./mail/mails.ts";
import { createIssuedTokens } from "./oauth/issued-tokens.ts";
import { createIssuer } from "./oauth/issuer.ts";
import { createStateStore } from "./oauth/state-store.ts";
import { createPrincipals, createTokens } from "./principals/principals.ts";
import type { Configured } from "./properties.ts";
import { createSignIns } from "./sign-ins/sign-ins.ts";
import { createChangeAccountStatus } from "./statuses/change-account-status.ts";
import { createRequestRecovery } from "./statuses/request-recovery.ts";
import { createStepUpStore } from "./step-up/step-up-store.ts";
import { createStepUps } from "./step-up/step-ups.ts";

/** What the routes and resolvers may call. */
export type Verbs = ReturnType<typeof createVerbs>;

/**
 * Joins the verbs to their stores. `counting` is for statements that count whatever becomes of the transaction around
 * them: a pool of its own, or transactions could take all connections and then wait for one.
 */
export function createVerbs(context: Configured, pool: Pool, outbox: Outbox, counting: Pool = pool) {
  const { configuration, clock, log } = context;
  const prisma = new PrismaClient({ adapter: prismaAdapter(pool) });
  const accounts = createAccountStore(pool, prisma);
  const keys = createApiKeyStore(pool);
  const clients = createServiceClientStore(pool);
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
  const mails = createMails(context, pool, sealer);
  const oneTimeCodes = createOneTimeCodes({ keys: configuration.get("secrets.keys"), counting, clock });
  const askAgain = createAskAgain({ accessLog, clock });
  const stepUpStore = createStepUpStore(pool);
  const proving = { ...writing, accounts, accessLog, askAgain, oneTimeCodes, mails, noteRefusal };
  const stepUps = createStepUps({ ...proving, stepUps: stepUpStore });
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
  const state = createStateStore(pool, sealer);
  const issuedTokens = createIssuedTokens({ ...proving, state });
  const defaultLocale = () => configuration.get("defaults.locale");
  const signIns = createSignIns({ ...proving, makeAccount, issuedTokens, stepUps, defaultLocale });
  const oauth = { state, issuedTokens, signIns };
  const issuer = createIssuer(context, { ...proving, ...oauth, sealer, clients });
  const tokens = issuer?.tokens ?? createTokens(context, parseIssuers(configuration.get("auth.issuers")));
  const principals = createPrincipals(context, { ...proving, tokens, apiKeys: keys, provisionAccount, stepUpStore });
  const identityStore = createIdentityStore(pool);
  const identities = createIdentities({ ...proving, identityStore, tokens, signsInByMail: issuer !== null });
  const contactLinks = createContactLinkStore(pool);
  const contactChanges = createContactChanges({
    ...proving,
    stepUps,
    identities,
    issuedTokens,
    contactLinks,
    baseUrl: configuration.get("http.base-url"),
    objectionHours: () => configuration.get("account.contact.objection-window"),
  });
  const apiKeys = createApiKeys({
    ...writing,
    accessLog,
    apiKeys: keys,
    keyEnvironment: configuration.get("account.api-keys.environment"),
    keysMax: () => configuration.get("account.api-keys.max"),
  });
  const serviceClients = createServiceClients({
    ...writing,
    accessLog,
    clients,
    clientsMax: () => configuration.get("account.clients.max"),
  });
  const changeAccountStatus = createChangeAccountStatus({ ...writing, accounts, accessLog });

  return {
    pool,
    accounts,
    auditEntries,
    accountSearch: createAccountSearchStore(prisma),
    keys,
    apiKeys,
    clients,
    principals,
    issuer,
    issuedTokens,
    sealer,
    accessLog,
    audit,
    makeAccount,
    clock,
    updateAccount: createUpdateAccount({ ...writing, accounts, contactChanges }),
    contactChanges,
    contactLinks,
    stepUps,
    signIns,
    identities,
    changeAccountStatus,
    requestRecovery: createRequestRecovery({ ...writing, accounts }),
    createFirstKey: createFirstKeyMaker({ pool, audit, accounts, provisionAccount, changeAccountStatus, apiKeys }),
    serviceClients,
    announceExpiredCredentials: async () => {
      for (const { announceExpired } of [apiKeys, serviceClients]) {
        while ((await inTransaction(pool, announceExpired)) === "again");
      }
    },
    noteRefusal,
    mails,
    oneTimeCodes,
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
