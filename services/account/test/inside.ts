import type { Scope } from "@signalbox/contracts";
import { createOutbox } from "@signalbox/events";
import { inTransaction, openPool, prismaAdapter } from "@signalbox/storage";
import { createMetrics, createTracer } from "@signalbox/telemetry";
import { createCapabilities } from "../src/capabilities.ts";
import { makeServiceClient } from "../src/credentials/service-client.ts";
import { PrismaClient } from "../src/generated/prisma/client.ts";
import type { Harness } from "./harness.ts";

/**
 * Opens another instance of the service's capabilities on the same database, for promises that several instances keep.
 */
export function openInside(account: Harness) {
  const { log, configuration, runner, clock } = account.context;
  const metrics = createMetrics({ service: "account" });
  const url = configuration.get("database.url");
  const pool = openPool({ url, max: 4, applicationName: `inside-${crypto.randomUUID()}`, log, metrics, runner });
  const tracer = createTracer("account");
  const outbox = createOutbox({ pool, service: "account", log, metrics, clock, tracer, maxBytes: 1_000_000 });
  const prisma = new PrismaClient({ adapter: prismaAdapter(pool) });
  return { pool, outbox, prisma, capabilities: createCapabilities(account.context, { pool, outbox }) };
}

/** Gives an account a service client from the time before another issuer was configured; returns its id. */
export async function insertClient(
  { pool, capabilities }: Pick<ReturnType<typeof openInside>, "pool" | "capabilities">,
  accountId: string,
  scopes: readonly Scope[],
): Promise<string> {
  const wanted = { accountId, createdBy: "person", name: "before", scopes, roles: [], expiresAt: null };
  const made = makeServiceClient(wanted, new Date());
  await inTransaction(pool, (tx) => capabilities.clients.insert(tx, made.credential));
  return made.credential.id;
}
