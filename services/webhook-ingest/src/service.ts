import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { WebhookSourceResource } from "@signalbox/contracts";
import { ReplayEngine } from "@signalbox/events";
import { exportRoutes } from "@signalbox/http";
import { openOutboundClient } from "@signalbox/net";
import type { ServiceContext, ServiceParts } from "@signalbox/runtime";
import { openPrincipals, openService } from "@signalbox/service";
import { createSealer } from "@signalbox/storage";
import { accountEvents } from "./consumers.ts";
import type { IngestService } from "./context/ingest-service.ts";
import { serviceEdges } from "./edges.ts";
import type { Properties } from "./properties.ts";
import { whyReceived, whyRepeated } from "./received/why-received.ts";
import { sealedProofs } from "./rejections/rejection-store.ts";
import { replayKind, retryKind } from "./replays/replay.ts";
import { whyReplayed } from "./replays/why-replayed.ts";
import { viewSource } from "./sources/source.ts";
import { findSourceIdAt, findSourceWithSecrets, sealedSecrets } from "./sources/source-row.ts";
import { listSources } from "./sources/source-store.ts";
import { Admission } from "./state/admission.ts";
import { CertificateCache } from "./state/certificate-cache.ts";
import { JwksCache } from "./state/jwks-cache.ts";
import { ReceivingMetrics } from "./state/receiving-metrics.ts";
import { RefusalThrottle } from "./state/refusal-throttle.ts";
import { RejectionBudget } from "./state/rejection-budget.ts";
import { SourceCache } from "./state/source-cache.ts";
import { SourceStatistics } from "./state/source-statistics.ts";
import { WebhookWriter } from "./state/webhook-writer.ts";
import { startWorkers } from "./workers.ts";

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));
const schemaFile = new URL("../subgraph.graphql", import.meta.url);

/** Builds the service that receives webhooks from partners: verifies them, stores them once and publishes them. */
export async function createService(context: ServiceContext<Properties>): Promise<ServiceParts> {
  const { configuration, clock, log, metrics, runner } = context;
  const sealer = createSealer(configuration.get("secrets.keys"));
  const sealedColumns = [...sealedSecrets, sealedProofs];
  const opened = await openService(context, { prismaDirectory, sealer, sealedColumns });
  const { pool, outbox, consume, serve } = opened;
  const outbound = openOutboundClient(context, { allow: configuration.get("webhook-ingest.outbound.allow") });
  const sourceStatistics = new SourceStatistics(pool, clock);
  const findWithSecrets = (id: string) => findSourceWithSecrets(pool, sealer, id, clock.now());
  const findIdAt = (address: string) => findSourceIdAt(pool, address);

  const service: IngestService = {
    ...context,
    ...opened,
    sealer,
    outbound,
    sourceCache: new SourceCache({ findWithSecrets, findIdAt }, clock),
    jwksCache: new JwksCache(outbound, clock, log),
    certificateCache: new CertificateCache(outbound, clock, log),
    admission: new Admission(),
    refusalThrottle: new RefusalThrottle(),
    webhookWriter: new WebhookWriter(pool, outbox, clock, sourceStatistics),
    rejectionBudget: new RejectionBudget(clock),
    replayEngine: new ReplayEngine(replayKind, { pool, outbox, clock }),
    retryEngine: new ReplayEngine(retryKind, { pool, outbox, clock }),
    sourceStatistics,
    receivingMetrics: new ReceivingMetrics(metrics, clock),
  };

  consume("accounts", accountEvents(service));
  await startWorkers(service, runner);
  return serve({
    title: "Signalbox webhook ingest",
    principals: openPrincipals(context),
    edges: serviceEdges(service),
    internalRoutes: [
      exportRoutes({
        item: WebhookSourceResource,
        list: (accountId, range) => listSources(service, accountId, range),
        view: viewSource,
      }),
    ],
    whyFinders: [...whyReceived(service), whyRepeated(service), ...whyReplayed(service)],
    typeDefs: await readFile(schemaFile, "utf8"),
  });
}
