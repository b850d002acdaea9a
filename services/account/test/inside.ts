import type { Scope } from "@signalbox/contracts";
import { randomId } from "@signalbox/core";
import { createOutbox } from "@signalbox/events";
import { inTransaction, openPool, prismaAdapter } from "@signalbox/storage";
import { createMetrics, createTracer } from "@signalbox/telemetry";
import { makeServiceClient } from "../src/credentials/service-client.ts";
import { serviceEdges } from "../src/edges.ts";
import { PrismaClient } from "../src/generated/prisma/client.ts";
import { edgePartsOf, openCapabilities } from "../src/service.ts";
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
  const capabilities = openCapabilities(account.context, { pool, outbox });
  const pageLimits = {
    maxPageSize: () => configuration.get("limits.maxPageSize"),
    pageSize: () => configuration.get("defaults.pageSize"),
  };
  const accountExport = { start: async () => null };
  const checkEndpoints = async () => {};
  const parts = { capabilities, accountExport, checkEndpoints, pageLimits };
  const edges = serviceEdges(edgePartsOf(account.context, parts));
  return { pool, outbox, prisma, capabilities, edges };
}

/** Gives an account a service client from the time before another issuer was configured; returns its id. */
export async function insertClient(
  { pool, capabilities }: Pick<ReturnType<typeof openInside>, "pool" | "capabilities">,
  accountId: string,
  scopes: readonly Scope[],
): Promise<string> {
  const wanted = { accountId, createdBy: "person", name: "before", scopes, roles: [], expiresAt: null };
  const made = makeServiceClient(wanted, new Date());
  await inTransaction(pool, (tx) => capabilities.credentials.serviceClientStore.insert(tx, made.credential));
  return made.credential.id;
}

/** Inserts a passkey that nobody holds: only browsers of the built-in issuer add one. */
export async function insertPasskey(
  { pool, capabilities }: Pick<ReturnType<typeof openInside>, "pool" | "capabilities">,
  accountId: string,
): Promise<string> {
  const id = randomId("psk");
  const passkey = {
    id,
    accountId,
    credentialId: Buffer.from(id),
    name: "before",
    publicKey: Buffer.from("key"),
    counter: 0n,
    transports: [],
    synced: false,
    createdAt: new Date(),
    lastUsedAt: null,
  };
  await inTransaction(pool, (tx) => capabilities.signIns.passkeyStore.insert(tx, passkey));
  return id;
}
