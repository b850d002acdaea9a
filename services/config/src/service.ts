import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type ConsumerTable, type EventLog, restoreWhenReplaced, stateRepetitionMs } from "@signalbox/events";
import type { Runner, ServiceContext, ServiceParts } from "@signalbox/runtime";
import { openPrincipals, openService, startCanary } from "@signalbox/service";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import { canaryChanges } from "./canary/canary.ts";
import { serviceEdges } from "./edges.ts";
import { createFlagStore } from "./flags/flag-store.ts";
import { createFlags } from "./flags/flags.ts";
import { createBackups } from "./operating/backups.ts";
import { instanceRoutes } from "./operating/instance-routes.ts";
import { createChangeResults } from "./overrides/change-results.ts";
import { createOverrideStore } from "./overrides/override-store.ts";
import { createOverrides } from "./overrides/overrides.ts";
import { createChangeApproval } from "./overrides/plan-changes.ts";
import { elsewhereOf, readPropertyCatalogue } from "./overrides/property-catalogue.ts";
import { createProposalStore } from "./overrides/proposal-store.ts";
import { createProposals } from "./overrides/proposals.ts";
import { startExpiry } from "./overrides/undo-changes.ts";
import { whyRevised } from "./overrides/why-revised.ts";
import type { Properties } from "./properties.ts";
import { openAppliedReports } from "./published/applied-reports.ts";
import { createPublishedConfiguration } from "./published/published-configuration.ts";
import { openConfigStream } from "./stream/open-stream.ts";

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));
const schemaFile = new URL("../schema.graphql", import.meta.url);

/** Serves configuration, settings, environment and status, and stores the overrides of properties. */
export async function createService(context: ServiceContext<Properties>): Promise<ServiceParts> {
  const { configuration, runner, log, clock } = context;
  const opened = await openService(context, { prismaDirectory });
  const { pool, eventLog, outbox, flags, accessStates, configurationAgeMs, pageLimits, consume, serve } = opened;
  const reports = await openAppliedReports(context, eventLog);
  const published = createPublishedConfiguration({ configuration, reports, clock });
  const catalogue = await readPropertyCatalogue();
  const elsewhere = elsewhereOf(configuration);

  const overrideStore = createOverrideStore(pool);
  const overrides = createOverrides({ outbox, overrideStore, catalogue, elsewhere, clock });
  const flagStore = createFlagStore(pool);
  const flagOperations = createFlags({ outbox, flagStore, overrideStore, clock });
  startCanary(context, opened, canaryChanges);
  startRepetition(runner, pool, eventLog, [overrides, flagOperations]);
  consume("accounts", eraseReasons([overrides, flagOperations]));
  const expiry = startExpiry({ pool, overrides, overrideStore, runner, log, clock });

  const approval = createChangeApproval({ configuration, catalogue, clock });
  const results = createChangeResults({ reports, catalogue, elsewhere });
  const proposalStore = createProposalStore(pool);
  const proposals = createProposals({ proposalStore, overrides, outbox, clock });

  const principals = openPrincipals(context);
  const stores = { overrideStore, flagStore };
  const stream = openConfigStream({
    context,
    flags,
    accessStates,
    principals,
    catalogue,
    published,
    reports,
    stores,
  });

  return serve({
    title: "Signalbox configuration",
    principals,
    edges: serviceEdges({
      resources: {
        environment: { configuration, startedAt: clock.now(), runner },
        settings: { configuration, published },
        status: { configuration, reports, published, expiry, flags, catalogue, clock },
        clock,
        configurationAgeMs,
      },
      ofrep: { configuration, flags, clock },
      stream: { configuration, stream },
      properties: { configuration, reports, catalogue, overrideStore, overrides, approval, results, pageLimits },
      proposals: { proposals, proposalStore, approval, results, catalogue, pageLimits },
      flags: { flagOperations, flagStore, results, pageLimits },
    }),
    internalRoutes: [instanceRoutes({ reports, backups: createBackups({ ...context, pool }) })],
    whyFinders: whyRevised(overrideStore),
    typeDefs: await readFile(schemaFile, "utf8"),
  });
}

/** The changes of one kind, the newest of which stay on the state topic. */
interface Announced {
  repeat(tx: Tx, ageMs: number): Promise<void>;
  eraseReasonsOf(tx: Tx, accountId: string): Promise<void>;
}

function startRepetition(
  runner: Pick<Runner, "every">,
  pool: Pool,
  eventLog: Pick<EventLog, "onReplaced">,
  all: readonly Announced[],
): void {
  const repeatAll = (ageMs: number) =>
    inTransaction(pool, async (tx) => {
      for (const { repeat } of all) await repeat(tx, ageMs);
    });
  runner.every("configuration repetition", stateRepetitionMs, () => repeatAll(stateRepetitionMs));
  restoreWhenReplaced(runner, eventLog, "signalbox.config.v1", () => repeatAll(0));
}

/** Erases the reasons that a purged account gave. */
const eraseReasons = (all: readonly Announced[]): ConsumerTable => ({
  "account.deleted": async ({ subject }, { tx }) => {
    for (const { eraseReasonsOf } of all) await eraseReasonsOf(tx, subject);
  },
});
