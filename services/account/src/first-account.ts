import process from "node:process";
import type { Caller } from "@signalbox/auth";
import { scopes } from "@signalbox/contracts";
import { systemClock } from "@signalbox/core";
import { createOutbox } from "@signalbox/events";
import {
  createLogger,
  createMetrics,
  createTracer,
  environment,
  knownPropertyNames,
  loadConfiguration,
  type ServiceContext,
} from "@signalbox/runtime";
import { databaseOptions, inTransaction, openPool, type Tx } from "@signalbox/storage";
import type { Account } from "./accounts/account.ts";
import { type Actor, actorOf, recordInAudit } from "./audit/audit-log.ts";
import type { AccountService } from "./context/account-service.ts";
import { openAccountService } from "./open-account-service.ts";
import { type Properties, properties } from "./properties.ts";
import { provisionAccount } from "./registration/provisioning.ts";
import { moveStatus } from "./statuses/change-status.ts";

export type JobContext = Pick<ServiceContext<Properties>, "service" | "configuration" | "log" | "tracer" | "clock">;

/** The first account, in the transaction of a job on the host. */
interface FirstAccount {
  readonly tx: Tx;
  readonly account: Account;
  /** The person who runs the job, who acts for the first account. */
  readonly operator: Caller;
  readonly by: Actor;
  readonly service: AccountService;
}

/** The login of the first account. No issuer of tokens can have this name. */
const identity = { issuer: "@first-key", subject: "administrator" };
const claims = { name: "Administrator" };
const firstCredential = "first-key";

/** Opens the context of a job from the service's own configuration. It logs to standard error, warnings and worse. */
export function openJob(name: string): JobContext {
  const service = "account";
  const configuration = loadConfiguration({
    service,
    properties,
    argv: process.argv.slice(2),
    environment: environment(),
    directory: process.cwd(),
    foreignNames: knownPropertyNames(),
  });
  const destination = { write: (line: string) => void process.stderr.write(line) };
  const log = createLogger({ service, instance: name, level: "warn", destination });
  return { service, configuration, log, tracer: createTracer(service), clock: systemClock };
}

/**
 * Runs a job for the first account: active, with the role `admin` (CONTRACT §1). It needs a database that the service
 * has migrated. Its events leave through the relay of the running service.
 */
export async function withFirstAccount<Result>(
  { service: name, configuration, log, tracer, clock }: JobContext,
  applicationName: string,
  work: (first: FirstAccount) => Promise<Result>,
): Promise<Result> {
  const closes: (() => unknown)[] = [];
  const runner = { defer: (_name: string, close: () => unknown) => void closes.push(close) };
  // Never scraped: the process ends within moments.
  const metrics = createMetrics({ service: name });
  const pool = openPool({ ...databaseOptions(configuration), max: 2, applicationName, log, metrics, runner });
  try {
    const maxBytes = configuration.get("events.message.max-bytes");
    const outbox = createOutbox({ pool, service: name, log, metrics, clock, tracer, maxBytes });
    const service = openAccountService({ configuration, log, clock, metrics, tracer }, { pool, outbox });
    const { id } = await provisionAccount(service, { identity, claims, credential: firstCredential });
    return await inTransaction(pool, async (tx) => {
      const { account, operator, by } = await lockAdministrator(service, tx, id);
      return work({ tx, account, operator, by, service });
    });
  } finally {
    for (const close of closes.reverse()) await close();
  }
}

async function lockAdministrator(service: AccountService, tx: Tx, accountId: string) {
  const { accountStore } = service;
  let account = await accountStore.lock(tx, accountId);
  if (!account) throw new Error("the first account is gone");
  const operator = operatorOf(account);
  const by = actorOf(operator, "administrator");
  if (account.roles.join() !== "admin") {
    account = { ...account, roles: ["admin"] };
    await accountStore.save(tx, account);
    await recordInAudit(service, tx, by, { action: "account.grant_role", fields: ["roles"], reason: "admin" });
  }
  if (account.status !== "active") {
    const activated = await moveStatus(service, tx, by, account, { to: "active", reason: "first key" });
    if (activated.outcome === "changed") account = activated.account;
  }
  return { account, operator, by };
}

/** A person who may run this on the host is an administrator, and acts for the first account. */
function operatorOf({ id, status, accessEpoch }: Account): Caller {
  return {
    accountId: id,
    state: status,
    epoch: accessEpoch,
    scopes: new Set(scopes),
    roles: ["admin"],
    credential: { kind: "api-key", id: firstCredential, authTimeMs: null },
    expiresAt: null,
    requestId: firstCredential,
    clientAddress: null,
  };
}
