import type { Caller } from "@signalbox/auth";
import { scopes } from "@signalbox/contracts";
import { createOutbox } from "@signalbox/events";
import type { ServiceContext } from "@signalbox/runtime";
import { databaseOptions, inTransaction, openPool, type Tx } from "@signalbox/storage";
import { createMetrics } from "@signalbox/telemetry";
import type { Account } from "./accounts/account.ts";
import { actorOf } from "./audit/audit.ts";
import { type Base, openBase } from "./base.ts";
import type { ApiKeys } from "./credentials/api-keys.ts";
import { openCredentials } from "./credentials/open-credentials.ts";
import type { Properties } from "./properties.ts";

type Context = Pick<ServiceContext<Properties>, "service" | "configuration" | "log" | "tracer" | "clock">;

/**
 * Creates the first key of a deployment, in a database that the service has migrated: of an active account with the
 * role `admin`, with every scope (CONTRACT §1). Its events leave through the relay of the running service. Each call
 * creates another key of the same account, so the caller must keep the answer.
 */
export async function createFirstKey(context: Context): Promise<string> {
  const { service, configuration, log, tracer, clock } = context;
  const closes: (() => unknown)[] = [];
  const runner = { defer: (_name: string, close: () => unknown) => void closes.push(close) };
  // Never scraped: the process ends within moments.
  const metrics = createMetrics({ service });
  const options = { ...databaseOptions(configuration), max: 2, applicationName: "signalbox-first-key" };
  const pool = openPool({ ...options, log, metrics, runner });
  try {
    const maxBytes = configuration.get("events.message.max-bytes");
    const outbox = createOutbox({ pool, service, log, metrics, clock, tracer, maxBytes });
    const configured = { configuration, log, clock, metrics, tracer };
    const base = openBase(configured, { pool, outbox });
    const { apiKeys } = openCredentials(configured, base);
    const { id } = await base.provisioning.provision({ identity, claims, credential });
    return await inTransaction(pool, (tx) => createKey(tx, id, base, apiKeys));
  } finally {
    for (const close of closes.reverse()) await close();
  }
}

/** The login of the first account. No issuer of tokens can have this name. */
const identity = { issuer: "@first-key", subject: "administrator" };
const claims = { name: "Administrator" };
const credential = "first-key";

async function createKey(tx: Tx, accountId: string, base: Base, apiKeys: ApiKeys): Promise<string> {
  const { accountStore, audit, statusTransitions } = base;
  let account = await accountStore.lock(tx, accountId);
  if (!account) throw new Error("the account of the first key is gone");
  const operator = operatorOf(account);
  const by = actorOf(operator, "administrator");
  if (account.roles.join() !== "admin") {
    account = { ...account, roles: ["admin"] };
    await accountStore.save(tx, account);
    await audit.record(tx, by, { action: "account.grant_role", fields: ["roles"], reason: "admin" });
  }
  if (account.status !== "active") {
    const activated = await statusTransitions.move(tx, by, account, { to: "active", reason: "first key" });
    if (activated.outcome === "changed") account = activated.account;
  }
  const wanted = { name: "First key", scopes, roles: ["admin"], expiresAt: null } as const;
  const result = await apiKeys.create(tx, operator, account, wanted, by);
  if (result.outcome !== "issued") throw new Error(`the first key could not be made: ${result.outcome}`);
  return result.secret;
}

/** A person who may run this on the host is an administrator, and acts for the first account. */
function operatorOf({ id, status, accessEpoch }: Account): Caller {
  return {
    accountId: id,
    state: status,
    epoch: accessEpoch,
    scopes: new Set(scopes),
    roles: ["admin"],
    credential: { kind: "api-key", id: credential, authTimeMs: null },
    expiresAt: null,
    requestId: credential,
    clientAddress: null,
  };
}
