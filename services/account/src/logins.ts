import { parseIssuers } from "@signalbox/auth";
import { createRateLimiters } from "@signalbox/cache";
import type { Pool } from "@signalbox/storage";
import { createApplicationStore } from "./applications/application-store.ts";
import { createApplications } from "./applications/applications.ts";
import type { Base } from "./base.ts";
import { createOneTimeCodes } from "./codes/one-time-codes.ts";
import { createFirstLinkStore } from "./first-link/first-link.ts";
import { createFirstLinks } from "./first-link/first-links.ts";
import { createIdentities } from "./identities/identities.ts";
import { createIdentityStore } from "./identities/identity.ts";
import type { LimiterOf } from "./identity/callers/callers.ts";
import { type BuiltInIssuer, openIssuer } from "./identity/issuer.ts";
import { createStateStore } from "./identity/state/state-store.ts";
import type { Credentials } from "./open-credentials.ts";
import type { Pages } from "./pages/pages.ts";
import { createCeremonies } from "./passkeys/ceremonies.ts";
import { createPasskeyRecords } from "./passkeys/passkey.ts";
import { createPasskeyStore } from "./passkeys/passkey-store.ts";
import { createPasskeys } from "./passkeys/passkeys.ts";
import { createPrincipals, createTokens } from "./principals/principals.ts";
import type { Configured } from "./properties.ts";
import type { Registration } from "./registration/registration.ts";
import { createIssuedTokens } from "./sign-ins/issued-tokens.ts";
import { createSignInList } from "./sign-ins/sign-in-list.ts";
import { createSignInMails } from "./sign-ins/sign-in-mails.ts";
import { createSignInStore } from "./sign-ins/sign-in-store.ts";
import { createSignIns } from "./sign-ins/sign-ins.ts";
import { createStepUpStore } from "./step-up/step-up-store.ts";
import { createStepUps } from "./step-up/step-ups.ts";

/** The proofs that a person holds the address of an account. */
export type Proofs = ReturnType<typeof openProofs>;

/** Opens the mailed codes, and the step-ups by such codes. `counting` counts tries, even those that roll back. */
export function openProofs({ configuration, clock }: Configured, base: Base, counting: Pool) {
  const { pool, accountStore, mails, access, audit, auditRefusals } = base;
  const keys = configuration.get("secrets.keys");
  const oneTimeCodes = createOneTimeCodes({ keys, counting, clock });
  const stepUpStore = createStepUpStore({ pool, counting, clock });
  const stepUps = createStepUps({
    accountStore,
    stepUpStore,
    oneTimeCodes,
    mails,
    access,
    audit,
    auditRefusals,
    clock,
  });
  return { oneTimeCodes, stepUpStore, stepUps };
}

/** Opens the passkeys of people at the built-in issuer. */
function openPasskeys({ configuration, clock }: Configured, base: Base) {
  const { pool, accountStore, notices, audit, auditRefusals, outbox } = base;
  const passkeyStore = createPasskeyStore(pool);
  const ceremonies = createCeremonies({
    baseUrl: configuration.get("http.base-url"),
    serverName: () => configuration.get("server.name"),
    keys: configuration.get("secrets.keys"),
  });
  const passkeys = createPasskeys({
    passkeyStore,
    ceremonies,
    accountStore,
    identityStore: createIdentityStore(pool),
    notices,
    passkeyRecords: createPasskeyRecords({ audit, outbox }),
    auditRefusals,
    clock,
  });
  return { passkeyStore, ceremonies, passkeys };
}

interface SignInDependencies {
  readonly base: Base;
  readonly proofs: Proofs;
  readonly credentials: Credentials;
  readonly registration: Registration;
  readonly pages: Pages;
  /** Counts requests over all services; absent in a process without a listener. */
  readonly limiterOf?: LimiterOf | undefined;
}

/** Opens the sign-ins, and the built-in issuer unless another one is configured. */
export function openSignIns(context: Configured, dependencies: SignInDependencies) {
  const { configuration, clock } = context;
  const { base, proofs, credentials, registration, pages, limiterOf = localLimits(context) } = dependencies;
  const { pool, accountStore, access, audit, notices, outbox } = base;
  const stateStore = createStateStore(pool, base.sealer);
  const signInStore = createSignInStore(pool);
  const issuedTokens = createIssuedTokens({ pool, access, audit, clock, stateStore, signInStore });
  const signInList = createSignInList({
    accountStore,
    signInStore,
    issuedTokens,
    stepUps: proofs.stepUps,
    audit,
    notices,
    clock,
  });
  const signIns = createSignIns({
    registration,
    oneTimeCodes: proofs.oneTimeCodes,
    mails: base.mails,
    signInMails: createSignInMails({ keys: configuration.get("secrets.keys"), clock }),
    notices,
    audit,
    auditRefusals: base.auditRefusals,
    clock,
  });
  const { passkeyStore, ceremonies, passkeys } = openPasskeys(context, base);
  const firstLinks = createFirstLinks({
    oneTimeCodes: proofs.oneTimeCodes,
    firstLinkStore: createFirstLinkStore(pool),
    accountStore,
    accountRecords: base.accountRecords,
    verifiedAddresses: base.verifiedAddresses,
    passkeys,
    audit,
    clock,
  });
  const { serviceClientStore } = credentials;
  const applicationStore = createApplicationStore(pool);
  const stores = { stateStore, signInStore, serviceClientStore, applicationStore };
  const proving = { signIns, firstLinks, passkeys, ceremonies };
  const issuer = openIssuer(context, { base, stores, issuedTokens, proving, signInList, pages, limiterOf });
  const hasIssuer = issuer !== null;
  const applications = createApplications({ applicationStore, issuedTokens, audit, outbox, clock, hasIssuer });
  return {
    issuedTokens,
    signInStore,
    signInList,
    firstLinks,
    applicationStore,
    applications,
    passkeyStore,
    passkeys,
    issuer,
  };
}

interface LoginDependencies {
  readonly base: Base;
  readonly proofs: Pick<Proofs, "stepUpStore">;
  readonly credentials: Pick<Credentials, "apiKeyStore" | "portalSessionStore">;
  readonly registration: Registration;
  readonly issuer: BuiltInIssuer | null;
}

/** Opens the logins of accounts at any issuer, and the principals of tokens and keys. */
export function openLogins(context: Configured, dependencies: LoginDependencies) {
  const { base, proofs, credentials, registration, issuer } = dependencies;
  const { configuration, clock } = context;
  const { pool, accountStore, access, audit, auditRefusals, notices, provisioning } = base;
  const tokens = issuer?.tokens ?? createTokens(context, parseIssuers(configuration.get("auth.issuers")));
  const identities = createIdentities({
    identityStore: createIdentityStore(pool),
    accountStore,
    access,
    audit,
    notices,
    tokens,
    clock,
    signsInByMail: issuer !== null,
  });
  const principals = createPrincipals(context, {
    tokens,
    stores: {
      accountStore,
      apiKeyStore: credentials.apiKeyStore,
      portalSessionStore: credentials.portalSessionStore,
      stepUpStore: proofs.stepUpStore,
    },
    provisioning,
    registration,
    auditRefusals,
    access,
    rolesAreOurs: issuer !== null,
  });
  return { identities, principals };
}

function localLimits({ clock }: Configured): LimiterOf {
  const limiters = createRateLimiters(clock);
  return (policy) => limiters(policy, { takeShares: async () => null });
}
