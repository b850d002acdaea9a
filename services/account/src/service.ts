import { fileURLToPath } from "node:url";
import type { ServiceContext, ServiceParts } from "@signalbox/runtime";
import { openService, refusalOf } from "@signalbox/service";
import { createSealer, databaseOptions, openPool } from "@signalbox/storage";
import { createCapabilities } from "./capabilities.ts";
import { createAccountExport, openRemoteSections } from "./export/account-export.ts";
import { openGraph } from "./graphql/resolvers.ts";
import { metadataPrefix, mountPath } from "./oauth/issuer-address.ts";
import { principalRoutes } from "./principals/principal-routes.ts";
import type { Properties } from "./properties.ts";
import { publicRoutes } from "./routes.ts";
import { startWorkers } from "./workers.ts";

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));

/** Knows the accounts: who exists, who is asking, what they may do, and the settings they chose. */
export async function createService(context: ServiceContext<Properties>): Promise<ServiceParts> {
  const { configuration, runner } = context;
  const sealer = createSealer(configuration.get("secrets.keys"));
  const service = await openService(context, { prismaDirectory, sealer });
  const counting = openPool({
    ...databaseOptions(configuration),
    ...context,
    max: 2,
    applicationName: "account-tries",
  });
  const capabilities = createCapabilities(context, { ...service, counting });
  const { issuer, audit } = capabilities;
  await issuer?.open();
  startWorkers(runner, capabilities);
  service.consume("audit", { "audit.recorded": (event, { tx }) => audit.take(tx, event) });
  const accountExport = createAccountExport({ ...capabilities, remoteSections: openRemoteSections(context) });

  return service.serve({
    title: "Signalbox accounts",
    principals: capabilities.principals,
    routes: publicRoutes({ ...capabilities, accountExport }),
    internalRoutes: principalRoutes(capabilities),
    graph: await openGraph(capabilities),
    mounts: issuer ? { [mountPath]: issuer.listener, [metadataPrefix]: issuer.listener } : {},
    onForbidden: (request) => capabilities.auditRefusals.record(refusalOf(request)),
  });
}
