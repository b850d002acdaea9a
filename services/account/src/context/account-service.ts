import type { Properties } from "@signalbox/account-service/properties";
import type { AccessStates, TokenVerifier } from "@signalbox/auth";
import type { Outbox } from "@signalbox/events";
import type { PageLimits } from "@signalbox/http";
import type { InternalClient } from "@signalbox/net";
import type { ServiceContext } from "@signalbox/runtime";
import type { Actor, AuditChange, AuditRefusals, Load } from "@signalbox/service";
import type { Pool, Sealer } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import type { AccountSearchStore } from "../accounts/account-search-store.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { IdentityProvider } from "../identity-providers/identity-provider.ts";
import type { Mails } from "../mail/mails.ts";

/** The part of the process that a job on the host has too. */
export type ProcessContext = Pick<ServiceContext<Properties>, "configuration" | "clock" | "log" | "metrics" | "tracer">;

/** The operations on accounts lean on this: what owns a connection, a loop or a cache, and the live configuration. */
export interface AccountService extends ProcessContext {
  readonly pool: Pool;
  /**
   * The pool of statements that count even when the surrounding transaction rolls back. It is separate, because
   * transactions could otherwise take all connections and then wait for one.
   */
  readonly counting: Pool;
  readonly sealer: Sealer;
  readonly outbox: Outbox;
  /** The access states that this process's own edge enforces; absent in a process without an edge. */
  readonly accessStates: AccessStates | undefined;
  readonly auditRefusals: AuditRefusals;
  /** Records reads of administrators, each once a minute. */
  readonly auditReads: { record(by: Actor, read: AuditChange): Promise<void> };
  readonly accountStore: AccountStore;
  readonly accountSearch: AccountSearchStore;
  /** Finds accounts of any owner in the graph: fields check access before they load. */
  readonly loadAccount: Load<Account>;
  readonly mails: Mails;
  /** Verifies the tokens of people, of the built-in issuer and of those that are configured. */
  readonly tokens: TokenVerifier;
  /** True when the built-in issuer runs: people sign in by mail, and roles are granted here. */
  readonly hasIssuer: boolean;
  /** Names of the other issuers, whose tokens bring roles for the accounts that they created. */
  readonly otherIssuers: readonly string[];
  /** The providers that people sign in with at the built-in issuer; none without it. */
  readonly identityProviders: readonly IdentityProvider[];
  /** Read the parts of an account that other services keep; null without a configured address. */
  readonly otherServices: Readonly<Record<OtherService, InternalClient | null>>;
  /** Asks webhook-delivery for endpoints while a request waits; null without its address. */
  readonly endpointClient: InternalClient | null;
  readonly pageLimits: PageLimits;
}

export type OtherService = "images" | "webhook-ingest" | "webhook-delivery";
