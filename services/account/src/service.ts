import { fileURLToPath } from "node:url";
import { createClientAddress } from "@signalbox/http";
import type { ServiceContext, ServiceParts } from "@signalbox/runtime";
import { openService, refusalOf } from "@signalbox/service";
import { atStart, createSealer, databaseOptions, openPool } from "@signalbox/storage";
import { type Capabilities, createCapabilities } from "./capabilities.ts";
import { confirmationPath } from "./contacts/contact-link.ts";
import { createContactLinkListener } from "./contacts/contact-link-listener.ts";
import { createAccountExport, openRemoteSections } from "./export/account-export.ts";
import { openGraph, resolversOf } from "./graphql/resolvers.ts";
import { sealedMails } from "./mail/mail-queue.ts";
import type { BuiltInIssuer } from "./oauth/issuer.ts";
import { metadataPrefix, mountPath } from "./oauth/issuer-address.ts";
import { sealedState } from "./oauth/state-store.ts";
import { principalRoutes } from "./principals/principal-routes.ts";
import type { Configured, Properties } from "./properties.ts";
import { publicRoutes } from "./routes.ts";
import { sealedSigningKeys } from "./signing-keys/signing-key-store.ts";
import { startWorkers } from "./workers.ts";

/** Every sealed column of this service. */
const sealedColumns = [sealedMails, sealedState, sealedSigningKeys];

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));

/** Manages accounts: their existence, credentials, permissions and settings. */
export async function createService(context: ServiceContext<Properties>): Promise<ServiceParts> {
  const { configuration, runner } = context;
  const sealer = createSealer(configuration.get("secrets.keys"));
  const service = await openService(context, { prismaDirectory, sealer, sealedColumns });
  const counting = openPool({
    ...databaseOptions(configuration),
    ...context,
    max: 2,
    applicationName: "account-tries",
  });
  const capabilities = createCapabilities(context, { ...service, counting });
  const { issuer, audit } = capabilities;
  const atOurStart = { waitMs: configuration.get("database.start-wait"), log: context.log };
  await atStart(async () => issuer?.open(), atOurStart);
  // Before a person signs in with an address that is not settled yet.
  await atStart(() => capabilities.verifiedAddresses.settle(), atOurStart);
  startWorkers(runner, capabilities);
  service.consume("audit", { "audit.recorded": (event, { tx }) => audit.take(tx, event) });
  const accountExport = createAccountExport({ ...capabilities, remoteSections: openRemoteSections(context) });

  return service.serve({
    title: "Signalbox accounts",
    principals: capabilities.principals,
    edges: { routes: publicRoutes({ ...capabilities, accountExport }), resolvers: resolversOf(capabilities) },
    internalRoutes: principalRoutes(capabilities),
    graph: await openGraph(capabilities),
    mounts: issuer ? issuerMounts(context, { ...capabilities, issuer }) : {},
    onForbidden: (request) => capabilities.auditRefusals.record(refusalOf(request)),
  });
}

/** The first match answers. */
function issuerMounts({ configuration, clock, log }: Configured, parts: Capabilities & { issuer: BuiltInIssuer }) {
  const url = `${configuration.get("http.base-url")}${confirmationPath}`;
  const clientAddress = createClientAddress(configuration.get("http.trusted-proxies"));
  return {
    [confirmationPath]: createContactLinkListener({ ...parts, url, clientAddress, clock, log }),
    [mountPath]: parts.issuer.listener,
    [metadataPrefix]: parts.issuer.listener,
  };
}
