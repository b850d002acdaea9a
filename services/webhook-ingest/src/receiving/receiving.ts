import type { AccessStates } from "@signalbox/auth";
import type { Configuration } from "@signalbox/config";
import { mayAccess } from "@signalbox/contracts";
import { AppError, seconds } from "@signalbox/core";
import type { ServiceContext } from "@signalbox/runtime";
import type { OpenedService } from "@signalbox/service";
import type { Properties } from "../properties.ts";
import { createRecordRejection, type RecordRejection } from "../rejections/record-rejection.ts";
import type { RejectionStore } from "../rejections/rejection-store.ts";
import type { Source } from "../sources/source.ts";
import type { SourceCache } from "../sources/source-cache.ts";
import type { SourceViews } from "../sources/source-view.ts";
import type { SourceStatistics } from "../statistics/source-statistics.ts";
import { createAnswerHandshake } from "./answer-handshake.ts";
import type { Delivery, Origin } from "./delivery.ts";
import type { DeliveryWriter } from "./delivery-writer.ts";
import { createIngestLimits } from "./ingest-limits.ts";
import type { IngestRoutes } from "./ingest-routes.ts";
import type { Judge } from "./judge-webhook.ts";
import { createReceiveWebhook } from "./receive-webhook.ts";
import { createReceivingMetrics } from "./receiving-metrics.ts";

type Context = Pick<ServiceContext<Properties>, "configuration" | "clock" | "log" | "metrics">;
type Opened = Pick<OpenedService, "accessStates" | "limiterOf" | "outbox">;

interface ReceivingDependencies {
  readonly judge: Judge;
  readonly knownSources: SourceCache;
  readonly deliveryWriter: DeliveryWriter;
  /** Returns `reconciled` for a webhook that the sender was asked to send again. */
  readonly originOf: (delivery: Delivery) => Promise<Origin>;
  readonly rejectionStore: RejectionStore;
  readonly sourceViews: Pick<SourceViews, "verifyUrlOf">;
  readonly sourceStatistics: Pick<SourceStatistics, "countRejection">;
  /** Returns true when this deployment accepts partners' webhooks. */
  readonly areIntegrationsEnabled: () => boolean;
}

/** Builds the receiving of webhooks: the parts of the routes that partners post to. */
export function openReceiving(context: Context, opened: Opened, dependencies: ReceivingDependencies): IngestRoutes {
  const { judge, knownSources, deliveryWriter, rejectionStore, areIntegrationsEnabled } = dependencies;
  const { configuration, clock, log, metrics } = context;
  const { limiterOf, outbox } = opened;
  const dropped = metrics.counter("signalbox_webhook_rejections_dropped_total");
  const receivingMetrics = createReceivingMetrics(metrics, clock);
  return {
    receiveWebhook: createReceiveWebhook({
      judge,
      knownSources,
      deliveryWriter: markOrigin(deliveryWriter, dependencies.originOf),
      metrics: receivingMetrics,
      isWithinRate: createRateCheck(limiterOf),
    }),
    answerHandshake: createAnswerHandshake({ knownSources, judge }),
    recordRejection: recordAtSource(knownSources, dependencies.sourceStatistics, {
      rejectionStore,
      outbox,
      verifyUrlOf: dependencies.sourceViews.verifyUrlOf,
      clock,
      log,
      keptMax: () => configuration.get("webhook-ingest.rejections.max"),
      onDropped: () => dropped.inc(),
    }),
    ingestLimits: createIngestLimits({ limiterOf, knownSources, judge, allowance: allowanceOf(configuration) }),
    receivingMetrics,
    webhookBytesMax: judge.webhookBytesMax,
    baseUrl: configuration.get("http.base-url"),
    areIntegrationsEnabled,
  };
}

/** Returns the writer that marks webhooks which were asked for. */
const markOrigin = (
  { write }: DeliveryWriter,
  originOf: ReceivingDependencies["originOf"],
): Pick<DeliveryWriter, "write"> => ({
  write: async (delivery) => write({ ...delivery, origin: await originOf(delivery) }),
});

/** Counts and records a rejection with its source, for any of the source's addresses. Other addresses have no owner. */
function recordAtSource(
  { idAt, find }: Pick<SourceCache, "idAt" | "find">,
  { countRejection }: ReceivingDependencies["sourceStatistics"],
  dependencies: Parameters<typeof createRecordRejection>[0],
): RecordRejection {
  const record = createRecordRejection(dependencies);
  return (rejection, more) => {
    const recordAt = async () => {
      const known = await find(await idAt(rejection.sourceId));
      if (known === null) return;
      const { id: sourceId, accountId } = known.source;
      countRejection(known.source, rejection.reason);
      record(accountId, { ...rejection, sourceId }, more);
    };
    // While the database is away, the account of a source that is not in memory is unknown.
    recordAt().catch(dependencies.onDropped);
  };
}

/**
 * Creates the check of a source's rate; it returns false beyond the rate of the second. Only verified webhooks count,
 * so that a stranger can neither use up a partner's rate nor detect a source by it.
 */
const createRateCheck =
  (limiterOf: Opened["limiterOf"]) =>
  ({ id, settings: { rate } }: Pick<Source, "id" | "settings">): boolean =>
    rate === undefined ||
    limiterOf({ name: `ingest-rate-${rate}`, limit: rate, windowMs: seconds(1) }).take(id).allowed;

const allowanceOf = (configuration: Configuration<Properties>) => ({
  unknownSources: configuration.get("webhook-ingest.refusals.unknown-sources"),
  failedVerifications: configuration.get("webhook-ingest.refusals.failed-verifications"),
});

/** Creates the judge of webhooks, with the limits of this deployment. */
export function openJudge(
  { configuration, clock }: Context,
  { accessStates }: Opened,
  { keySets, certificates }: Pick<Judge, "keySets" | "certificates">,
): Judge {
  return {
    clock,
    keySets,
    certificates,
    toleranceMs: () => configuration.get("webhook-ingest.tolerance"),
    webhookBytesMax: () => configuration.get("limits.maxWebhookBytes"),
    eventBytesMax: configuration.get("events.message.max-bytes"),
    mayWrite: createMayWrite(accessStates),
  };
}

/**
 * Creates the check of an account's access. Ingest has no authentication, so the check itself refuses everything until
 * the access states are known.
 */
function createMayWrite(accessStates: AccessStates) {
  return (accountId: string): boolean => {
    if (!accessStates.isCaughtUp())
      throw new AppError("unavailable", "The access states are being read.", { retryAfterSeconds: 1 });
    return mayAccess(accessStates.stateOf(accountId)?.state ?? "active", "write");
  };
}
