import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { stateRepetitionMs } from "@signalbox/events";
import type { ServiceContext, ServiceParts } from "@signalbox/runtime";
import { openPrincipals, openService } from "@signalbox/service";
import { inTransaction } from "@signalbox/storage";
import { createFlagStore } from "./flags/flag-store.ts";
import { createFlags } from "./flags/flags.ts";
import { createChangeApproval } from "./overrides/change-approval.ts";
import { createChangeResults } from "./overrides/change-results.ts";
import { startExpiry } from "./overrides/expiry.ts";
import { createOverrideStore } from "./overrides/override-store.ts";
import { createOverrides } from "./overrides/overrides.ts";
import { elsewhereOf, readPropertyCatalogue } from "./overrides/property-catalogue.ts";
import { createProposals } from "./overrides/proposals.ts";
import type { Properties } from "./properties.ts";
import { openAppliedReports } from "./published/applied-reports.ts";
import { createPublishedConfiguration } from "./published/published-configuration.ts";
import { resolversOf } from "./resolvers.ts";
import { publicRoutes } from "./routes.ts";
import { openConfigStream } from "./stream/open-stream.ts";

const prismaDirectory = fileURLToPath(new URL("../prisma", import.meta.url));
const schemaFile = new URL("../schema.graphql", import.meta.url);

/** Serves configuration, settings, environment and status, and keeps the overrides of properties. */
export async function createService(context: ServiceContext<Properties>): Promise<ServiceParts> {
  const { configuration, runner, log, clock } = context;
  const {
    pool,
    eventLog,
    outbox,
    consume,
    configurationAgeMs,
    pageLimits,
    flags: known,
    accessStates,
    serve,
  } = await openService(context, {
    prismaDirectory,
  });
  const reports = await openAppliedReports(context, eventLog);
  const published = createPublishedConfiguration({ configuration, reports, clock });
  const catalogue = await readPropertyCatalogue();
  const overrideStore = createOverrideStore(pool);
  const elsewhere = elsewhereOf(configuration);
  const overrides = createOverrides({ outbox, overrideStore, catalogue, elsewhere, clock });
  const proposals = createProposals({ pool, overrides, outbox, clock });
  const approval = createChangeApproval({ configuration, catalogue, clock });
  const results = createChangeResults({ reports, catalogue, elsewhere });
  const flagStore = createFlagStore(pool);
  const flags = createFlags({ outbox, flagStore, overrideStore, clock });
  const expiry = startExpiry({ pool, overrides, overrideStore, runner, log, clock });

  const stream = openConfigStream({
    ...{ context, flags: known, accessStates, catalogue, published, reports, overrideStore, flagStore },
  });

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

  return serve({
    title: "Signalbox configuration",
    principals: openPrincipals(context),
    routes: publicRoutes({
      configuration,
      published,
      reports,
      runner,
      startedAt: clock.now(),
      clock,
      expiry,
      flags: known,
      stream,
      configurationAgeMs,
    }),
    graph: {
      typeDefs: await readFile(schemaFile, "utf8"),
      resolvers: resolversOf({
        ...{ configuration, reports, published, overrides, overrideStore, catalogue },
        ...{ proposals, approval, results, pageLimits, flags, flagStore },
      }),
      createLoaders: () => ({}),
    },
  });
}
