import { fileURLToPath } from "node:url";
import { createAuthenticator, createManagementAuthorizer } from "@signalbox/auth";
import { createHttpApp, createIdempotencyStore, createInternalApp } from "@signalbox/http";
import type { ServiceContext, ServiceParts } from "@signalbox/runtime";
import {
  followConfiguration,
  openDatabase,
  openEdgeLimits,
  openOutbox,
  openServiceLog,
  openStates,
} from "@signalbox/service";
import { databaseOptions, openPool } from "@signalbox/storage";
import { refusalOf } from "./audit/note-refusal.ts";
import { openExport } from "./export/open-export.ts";
import { createAccountSubgraph } from "./graphql/subgraph.ts";
import { principalRoutes } from "./principals/principal-routes.ts";
import type { Properties } from "./properties.ts";
import { publicRoutes } from "./routes.ts";
import { createVerbs } from "./verbs.ts";
import { startWorkers } from "./workers.ts";

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));

/** Knows the accounts: who exists, who is asking, what they may do, and the settings they chose. */
export async function createService(context: ServiceContext<Properties>): Promise<ServiceParts> {
  const { configuration, service, log, runner, clock } = context;
  const pool = await openDatabase(context, prismaDirectory);
  const eventLog = await openServiceLog(context);
  await followConfiguration(context, eventLog);
  const { outbox } = openOutbox(context, pool, eventLog);
  const accessStates = await openStates(context, eventLog);
  const { rateLimits } = await openEdgeLimits(context);

  const counting = openPool({
    ...databaseOptions(configuration),
    ...context,
    max: 2,
    applicationName: "account-tries",
  });
  const verbs = createVerbs(context, pool, outbox, counting);
  const authenticator = createAuthenticator({
    principals: verbs.principals,
    accessStates,
    clock,
    cacheMax: configuration.get("auth.principals.cache-max"),
  });
  const idempotency = createIdempotencyStore({ service, pool, sealer: verbs.sealer, clock });
  await verbs.issuer?.open();
  startWorkers(runner, { ...verbs, idempotency });

  const exportAccount = openExport(context, pool, verbs);
  const published = {
    routes: publicRoutes({ ...verbs, exportAccount }),
    openapi: { title: "Signalbox accounts", version: "1" },
  };
  return {
    public: createHttpApp({
      context,
      routes: published.routes,
      pool,
      authenticator,
      rateLimits,
      idempotency,
      onForbidden: (request) => verbs.noteRefusal(refusalOf(request)),
      openapi: published.openapi,
      mounts: verbs.issuer ? { "/oauth": verbs.issuer.listener } : {},
    }),
    internal: createInternalApp({
      context,
      tokens: () => configuration.get("internal.token"),
      routes: principalRoutes(verbs),
      mounts: { "/graphql": await createAccountSubgraph(verbs, log) },
      published,
    }),
    authorizeManagement: createManagementAuthorizer(authenticator),
  };
}
