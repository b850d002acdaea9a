import { type AccessStates, builtInIssuer, createTokenVerifier, parseIssuers } from "@signalbox/auth";
import type { Outbox } from "@signalbox/events";
import { requestLoader } from "@signalbox/http";
import type { InternalClient } from "@signalbox/net";
import { createAuditReads, createAuditRefusals, pageLimitsOf } from "@signalbox/service";
import { createSealer, type Pool } from "@signalbox/storage";
import { AccountSearchStore } from "./accounts/account-search-store.ts";
import { AccountStore } from "./accounts/account-store.ts";
import { recordRefusal, writeReadsTogether } from "./audit/audit-log.ts";
import type { AccountService, OtherService, ProcessContext } from "./context/account-service.ts";
import { issuerAddress, trustedIssuer } from "./identity/issuer-settings.ts";
import type { SigningKeys } from "./identity/signing-keys/signing-keys.ts";
import { parseIdentityProviders } from "./identity-providers/identity-provider.ts";
import { openMailTransport } from "./mail/mail-transport.ts";
import { Mails } from "./mail/mails.ts";

/** Parts that the process has opened: the service itself, or a job on the host in its place. */
interface OpenedProcess {
  readonly pool: Pool;
  readonly outbox: Outbox;
  readonly counting?: Pool;
  readonly accessStates?: AccessStates;
  /** The keys of the built-in issuer; absent in a process without a listener, which verifies no tokens. */
  readonly signingKeys?: SigningKeys;
  readonly otherServices?: Readonly<Record<OtherService, InternalClient | null>>;
  readonly endpointClient?: InternalClient | null;
}

const noOtherServices = { images: null, "webhook-ingest": null, "webhook-delivery": null } as const;

/** Fills the context of the operations on accounts, in the order in which its members need each other. */
export function openAccountService(context: ProcessContext, opened: OpenedProcess): AccountService {
  const { configuration, clock, log, metrics, tracer } = context;
  const { pool } = opened;
  const sealer = createSealer(configuration.get("secrets.keys"));
  const accountStore = new AccountStore(pool);
  const mails = new Mails({
    pool,
    sealer,
    transport: openMailTransport(configuration.get("mail.url"), configuration.get("mail.from")),
    sender: () => ({
      server: configuration.get("server.name"),
      baseUrl: configuration.get("http.base-url"),
      supportUrl: configuration.get("server.support-url"),
    }),
    clock,
    log,
    metrics,
    tracer,
  });
  const issuers = parseIssuers(configuration.get("auth.issuers"));
  const providers = parseIdentityProviders(configuration.get("account.identity-providers"), issuers);
  return {
    configuration,
    clock,
    log,
    metrics,
    tracer,
    pool,
    counting: opened.counting ?? pool,
    sealer,
    outbox: opened.outbox,
    accessStates: opened.accessStates,
    auditRefusals: createAuditRefusals({
      clock,
      log,
      metrics,
      write: (refusal) => recordRefusal({ clock, tracer }, pool, refusal),
    }),
    auditReads: createAuditReads({ clock, write: writeReadsTogether(pool) }),
    accountStore,
    accountSearch: new AccountSearchStore(pool),
    loadAccount: requestLoader(
      (accountIds) => accountStore.findMany(accountIds),
      ({ id }) => id,
    ),
    mails,
    tokens: openTokenVerifier(context, opened, issuers),
    hasIssuer: configuration.get("account.issuer.enabled"),
    otherIssuers: issuers.map(({ name }) => name),
    identityProviders: configuration.get("account.issuer.enabled") ? providers : [],
    otherServices: opened.otherServices ?? noOtherServices,
    endpointClient: opened.endpointClient ?? null,
    pageLimits: pageLimitsOf(configuration),
  };
}

/** Verifies the tokens of the configured issuers and of the built-in one, where it runs. */
function openTokenVerifier(
  { configuration, clock, log }: ProcessContext,
  { signingKeys }: OpenedProcess,
  issuers: ReturnType<typeof parseIssuers>,
) {
  const isEnabled = configuration.get("account.issuer.enabled");
  const builtIn = isEnabled ? [trustedIssuer(issuerAddress(configuration.get("http.base-url")))] : [];
  return createTokenVerifier({
    issuers: [...builtIn, ...issuers],
    clock,
    clockSkewSeconds: configuration.get("auth.clock-skew"),
    maxAgeSeconds: configuration.get("auth.tokens.max-age"),
    onKeysFailure: (issuer, error) => log.warn({ issuer, error }, "the keys of an issuer could not be read"),
    onKeysSkipped: (issuer, places) => log.warn({ issuer, places }, "malformed keys of an issuer were left out"),
    localKeys: signingKeys ? { [builtInIssuer]: () => signingKeys.current().publicKeys } : {},
  });
}
