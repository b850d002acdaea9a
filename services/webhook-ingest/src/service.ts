import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { WebhookSourceResource } from "@signalbox/contracts";
import { seconds } from "@signalbox/core";
import { exportRoutes } from "@signalbox/http";
import { createNameLookup, createOutboundClient } from "@signalbox/net";
import { ownPorts, type ServiceContext, type ServiceParts } from "@signalbox/runtime";
import { openPrincipals, openService } from "@signalbox/service";
import { createSealer } from "@signalbox/storage";
import type { Properties } from "./properties.ts";
import { openReceiving } from "./receiving/receiving.ts";
import { sealedProofs } from "./rejections/rejection-store.ts";
import { publishAgain } from "./replays/publish-again.ts";
import { createReplays } from "./replays/replays.ts";
import { loadersOf, resolversOf } from "./resolvers.ts";
import { createServiceRoutes } from "./routes.ts";
import { createKeySets } from "./sources/key-sets.ts";
import { createKnownSources } from "./sources/known-sources.ts";
import { startRemovedSourceCleanup } from "./sources/removed-source-cleanup.ts";
import { viewSource } from "./sources/source.ts";
import { createSourceIdAt } from "./sources/source-id-at.ts";
import { createSourceRotations } from "./sources/source-rotations.ts";
import { createAssertUsable } from "./sources/source-settings.ts";
import { createSourceStore, sealedSecrets } from "./sources/source-store.ts";
import { createSources } from "./sources/sources.ts";

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));
const schemaFile = new URL("../schema.graphql", import.meta.url);

/** Builds the service that receives webhooks from partners: verifies them, stores them once and publishes them. */
export async function createService(context: ServiceContext<Properties>): Promise<ServiceParts> {
  const { configuration, runner, clock } = context;
  const sealer = createSealer(configuration.get("secrets.keys"));
  const opened = await openService(context, {
    prismaDirectory,
    sealer,
    sealedColumns: [...sealedSecrets, sealedProofs],
  });
  const { pool, outbox, pageLimits, consume, serve } = opened;
  const sourceStore = createSourceStore(pool, sealer);
  const knownSources = createKnownSources(sourceStore, clock);
  const sourceIdAt = createSourceIdAt(sourceStore, clock);
  const sourcesMax = () => configuration.get("webhook-ingest.sources.max");
  const areIntegrationsEnabled = () => configuration.get("features.integrations") !== "disabled";
  const outbound = openOutbound(context);
  const assertUsable = createAssertUsable(outbound);
  const sources = createSources({
    sourceStore,
    knownSources,
    outbox,
    clock,
    sourcesMax,
    areIntegrationsEnabled,
    assertUsable,
  });
  const sourceRotations = createSourceRotations({ sourceStore, knownSources, outbox, clock, assertUsable });
  const keySets = createKeySets({ ...context, outbound });
  const receiving = await openReceiving(context, opened, {
    knownSources,
    sourceIdAt,
    keySets,
    sealer,
    areIntegrationsEnabled,
  });
  startRemovedSourceCleanup({ runner, pool });
  const replays = createReplays({ ...receiving, pool, outbox, clock });
  const publishing = { ...receiving, sourceStore, outbox };
  runner.every("replays", seconds(1), () => replays.step((tx, replay) => publishAgain(tx, replay, publishing)));
  consume("accounts", { "account.deleted": ({ subject }, { tx }) => sources.deleteAllOf(tx, subject) });

  const parts = {
    ...receiving,
    ...{ sources, sourceRotations, sourceStore, replays, pageLimits },
  };
  return serve({
    title: "Signalbox webhook ingest",
    principals: openPrincipals(context),
    edges: { routes: createServiceRoutes(parts), resolvers: resolversOf(parts) },
    internalRoutes: exportRoutes({ item: WebhookSourceResource, list: sourceStore.list, view: viewSource }),
    graph: {
      typeDefs: await readFile(schemaFile, "utf8"),
      createLoaders: loadersOf(parts),
    },
  });
}

/** Creates the client that reads partners' key sets, but never from an internal address. */
function openOutbound({ configuration, clock, metrics, runner }: ServiceContext<Properties>) {
  const duration = metrics.histogram("signalbox_outbound_seconds");
  const outbound = createOutboundClient({
    allow: configuration.get("webhook-ingest.outbound.allow"),
    refusePorts: ownPorts,
    lookup: createNameLookup({ clock }),
    clock,
    onEnd: (outcome, durationMs) => duration.observe({ outcome }, durationMs / 1000),
  });
  runner.defer("outbound client", () => outbound.close());
  return outbound;
}
