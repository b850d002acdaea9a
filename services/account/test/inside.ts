import type { Scope } from "@signalbox/contracts";
import { randomId } from "@signalbox/core";
import { createOutbox } from "@signalbox/events";
import { createMetrics, createTracer } from "@signalbox/runtime";
import { inTransaction, openPool, prismaAdapter } from "@signalbox/storage";
import { makeServiceClient, serviceClientStore } from "../src/credentials/service-client.ts";
import { serviceEdges } from "../src/edges.ts";
import { PrismaClient } from "../src/generated/prisma/client.ts";
import { openAccountService } from "../src/open-account-service.ts";
import { insertPasskey as insert } from "../src/passkeys/passkey-store.ts";
import type { Harness } from "./harness.ts";

/** Fills another context of the service on the same database, for promises that several instances keep. */
export function openInside(account: Harness) {
  const { log, configuration, runner, clock } = account.context;
  const metrics = createMetrics({ service: "account" });
  const url = configuration.get("database.url");
  const pool = openPool({ url, max: 4, applicationName: `inside-${crypto.randomUUID()}`, log, metrics, runner });
  const tracer = createTracer("account");
  const outbox = createOutbox({ pool, service: "account", log, metrics, clock, tracer, maxBytes: 1_000_000 });
  const service = openAccountService(account.context, { pool, outbox });
  const prisma = new PrismaClient({ adapter: prismaAdapter(pool) });
  return { pool, outbox, prisma, service, edges: serviceEdges(service) };
}

/** Gives an account a service client from the time before another issuer was configured; returns its id. */
export async function insertClient(
  { pool }: Pick<ReturnType<typeof openInside>, "pool">,
  accountId: string,
  scopes: readonly Scope[],
): Promise<string> {
  const wanted = { accountId, createdBy: "person", name: "before", scopes, roles: [], expiresAt: null };
  const made = makeServiceClient(wanted, new Date());
  await inTransaction(pool, (tx) => serviceClientStore.insert(tx, made.credential));
  return made.credential.id;
}

/** Inserts a passkey that nobody holds: only browsers of the built-in issuer add one. */
export async function insertPasskey(
  { pool }: Pick<ReturnType<typeof openInside>, "pool">,
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
  await inTransaction(pool, (tx) => insert(tx, passkey));
  return id;
}
