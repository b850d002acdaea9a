import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { PrincipalSource } from "@signalbox/auth";
import { resourceMetadataPrefix } from "@signalbox/http";
import { openOutboundClient } from "@signalbox/net";
import type { ServiceContext, ServiceParts } from "@signalbox/runtime";
import { openService, refusalOf, startCanary } from "@signalbox/service";
import { atStart, createSealer, databaseOptions, openPool } from "@signalbox/storage";
import { hasUnannouncedAccess } from "./access/access-announcements.ts";
import { takeAuditEntry } from "./audit/audit-log.ts";
import { whyAudited } from "./audit/why-audited.ts";
import { canaryChanges } from "./canary/canary.ts";
import { settleAddresses } from "./contacts/verified-addresses.ts";
import { whyApiKey } from "./credentials/api-key.ts";
import { serviceEdges } from "./edges.ts";
import { openOtherServices } from "./export/other-services.ts";
import { issuerMounts, openIdentityService, openIssuer } from "./identity/issuer.ts";
import { protectedResourceListener } from "./identity/protected-resource.ts";
import { sealedSigningKeys } from "./identity/signing-keys/signing-key-store.ts";
import { SigningKeys } from "./identity/signing-keys/signing-keys.ts";
import { sealedState } from "./identity/state/state-store.ts";
import { sealedMails } from "./mail/mail-queue.ts";
import { openAccountService } from "./open-account-service.ts";
import { principalRoutes } from "./principals/principal-routes.ts";
import { resolvePrincipal } from "./principals/principals.ts";
import type { Properties } from "./properties.ts";
import { whySignedIn } from "./sign-ins/sign-in-list.ts";
import { startWorkers } from "./workers.ts";

const sealedColumns = [sealedMails, sealedState, sealedSigningKeys];

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));
const schemaFile = new URL("../subgraph.graphql", import.meta.url);

/** Manages accounts: their existence, credentials, permissions and settings. */
export async function createService(context: ServiceContext<Properties>): Promise<ServiceParts> {
  const { configuration, clock, log } = context;
  const sealer = createSealer(configuration.get("secrets.keys"));
  const opened = await openService(context, { prismaDirectory, sealer, sealedColumns });
  const { pool, eventLog, limiterOf, consume, serve } = opened;
  const tries = { max: 2, applicationName: "account-tries" };
  const rotationDays = () => configuration.get("account.oauth.key-rotation-days");
  const signingKeys = new SigningKeys({ pool, sealer, clock, rotationDays });
  const service = openAccountService(context, {
    ...opened,
    counting: openPool({ ...databaseOptions(configuration), ...context, ...tries }),
    signingKeys,
    ...openOtherServices(context),
  });
  const openOutbound = () => openOutboundClient(context, { allow: configuration.get("account.outbound.allow") });
  const identity = service.hasIssuer ? openIdentityService(service, signingKeys, limiterOf, openOutbound()) : null;
  const atOurStart = { waitMs: configuration.get("database.start-wait"), log };
  await atStart(async () => identity && openIssuer(identity), atOurStart);
  // Before a person signs in with an address that is not settled yet.
  await atStart(() => settleAddresses(service), atOurStart);
  startWorkers(context, { service, identity, eventLog });
  startCanary(context, opened, canaryChanges);
  consume("audit", { "audit.recorded": (event, { tx }) => takeAuditEntry(tx, event) });
  const principals: PrincipalSource = {
    resolve: (credential) => resolvePrincipal(service, credential),
    hasUnannounced: () => hasUnannouncedAccess(pool),
  };

  return serve({
    title: "Signalbox accounts",
    principals,
    edges: serviceEdges(service),
    internalRoutes: [principalRoutes(service, principals)],
    whyFinders: [...whyAudited(service), whyApiKey(service), whySignedIn(service)],
    typeDefs: await readFile(schemaFile, "utf8"),
    // The first match answers.
    mounts: { [resourceMetadataPrefix]: protectedResourceListener(service), ...(identity && issuerMounts(identity)) },
    onForbidden: (request) => service.auditRefusals.record(refusalOf(request)),
  });
}
