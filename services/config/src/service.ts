import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { stateRepetitionMs } from "@signalbox/events";
import type { ServiceContext, ServiceParts } from "@signalbox/runtime";
import { type OpenedService, openPrincipals, openService } from "@signalbox/service";
import { inTransaction } from "@signalbox/storage";
import { createFlagStore } from "./flags/flag-store.ts";
import { createFlags } from "./flags/flags.ts";
import { createChangeApproval } from "./overrides/change-approval.ts";
import { createChangeResults } from "./overrides/change-results.ts";
import { startExpiry } from "./overrides/expiry.ts";
import { createOverrideStore } from "./overrides/override-store.ts";
import { createOverrides } from "./overrides/overrides.ts";
import { elsewhereOf, type PropertyCatalogue, readPropertyCatalogue } from "./overrides/property-catalogue.ts";
import { createProposals } from "./overrides/proposals.ts";
import type { Properties } from "./properties.ts";
import { type AppliedReports, openAppliedReports } from "./published/applied-reports.ts";
import { createPublishedConfiguration } from "./published/published-configuration.ts";
import { resolversOf } from "./resolvers.ts";
import { publicRoutes } from "./routes.ts";
import { openConfigStream } from "./stream/open-stream.ts";

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));
const schemaFile = new URL("../schema.graphql", import.meta.url);

/** Serves configuration, settings, environment and status, and stores the overrides of properties. */
export async function createService(context: ServiceContext<Properties>): Promise<ServiceParts> {
  const { configuration, runner, clock } = context;
  const opened = await openService(context, { prismaDirectory });
  const { eventLog, configurationAgeMs, pageLimits, flags: known, accessStates, serve } = opened;
  const reports = await openAppliedReports(context, eventLog);
  const published = createPublishedConfiguration({ configuration, reports, clock });
  const catalogue = await readPropertyCatalogue();
  const changes = openChanges(context, opened, { reports, catalogue });
  const principals = openPrincipals(context);
  const stream = openConfigStream({
    ...{ context, flags: known, accessStates, principals, catalogue, published, reports },
    ...{ overrideStore: changes.overrideStore, flagStore: changes.flagStore },
  });

  return serve({
    title: "Signalbox configuration",
    principals,
    edges: {
      routes: publicRoutes({
        configuration,
        published,
        reports,
        runner,
        startedAt: clock.now(),
        clock,
        expiry: changes.expiry,
        flags: known,
        stream,
        configurationAgeMs,
      }),
      resolvers: resolversOf({ configuration, reports, published, catalogue, pageLimits, ...changes }),
    },
    graph: { typeDefs: await readFile(schemaFile, "utf8") },
  });
}

interface Around {
  readonly reports: AppliedReports;
  readonly catalogue: PropertyCatalogue;
}

/** Creates the changes of properties and flags, with their background work. */
function openChanges(
  { configuration, runner, log, clock }: ServiceContext<Properties>,
  { pool, outbox, consume }: OpenedService,
  { reports, catalogue }: Around,
) {
  const overrideStore = createOverrideStore(pool);
  const elsewhere = elsewhereOf(configuration);
  const overrides = createOverrides({ outbox, overrideStore, catalogue, elsewhere, clock });
  const flagStore = createFlagStore(pool);
  const flags = createFlags({ outbox, flagStore, overrideStore, clock });

  runner.every("configuration repetition", stateRepetitionMs, () =>
    inTransaction(pool, async (tx) => {
      await overrides.repeat(tx);
      await flags.repeat(tx);
    }),
  );
  consume("accounts", {
    "account.deleted": async ({ subject }, { tx }) => {
      await overrides.eraseReasonsOf(tx, subject);
      await flags.eraseReasonsOf(tx, subject);
    },
  });

  return {
    ...{ overrideStore, overrides, flagStore, flags },
    proposals: createProposals({ pool, overrides, outbox, clock }),
    approval: createChangeApproval({ configuration, catalogue, clock }),
    results: createChangeResults({ reports, catalogue, elsewhere }),
    expiry: startExpiry({ pool, overrides, overrideStore, runner, log, clock }),
  };
}
