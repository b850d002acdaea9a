import type { AccessStates } from "@signalbox/auth";
import type { Configuration } from "@signalbox/config";
import { mayAccess } from "@signalbox/contracts";
import { AppError, hours, seconds } from "@signalbox/core";
import type { ServiceContext } from "@signalbox/runtime";
import type { OpenedService } from "@signalbox/service";
import { atStart, createDayTables, type Sealer, startRetention } from "@signalbox/storage";
import type { Properties } from "../properties.ts";
import { createRecordRejection, type RecordRejection } from "../rejections/record-rejection.ts";
import { createRejectionStore } from "../rejections/rejection-store.ts";
import { createRetryRejection } from "../rejections/retry-rejection.ts";
import type { KeySets } from "../sources/key-sets.ts";
import type { KnownSources } from "../sources/known-sources.ts";
import type { Source } from "../sources/source.ts";
import type { SourceIdAt } from "../sources/source-id-at.ts";
import { createAdmission } from "./admission.ts";
import { createAnswerHandshake } from "./answer-handshake.ts";
import { createDeliveryStore } from "./delivery-store.ts";
import { DeliveryWriter } from "./delivery-writer.ts";
import { createIngestLimits } from "./ingest-limits.ts";
import { createReceiveWebhook } from "./receive-webhook.ts";
import { createReceivedStore } from "./received-store.ts";
import { createReceivingMetrics } from "./receiving-metrics.ts";

type Context = Pick<ServiceContext<Properties>, "configuration" | "runner" | "clock" | "log" | "metrics">;
type Opened = Pick<OpenedService, "pool" | "outbox" | "accessStates" | "limiterOf">;

interface ReceivingDependencies {
  readonly knownSources: KnownSources;
  readonly sourceIdAt: SourceIdAt;
  readonly keySets: KeySets;
  readonly sealer: Sealer;
  /** Returns true when this deployment accepts partners' webhooks. */
  readonly areIntegrationsEnabled: () => boolean;
}

/** Builds the receiving of webhooks: the parts of its routes and its workers. */
export async function openReceiving(
  context: Context,
  opened: Opened,
  { knownSources, sourceIdAt, keySets, sealer, areIntegrationsEnabled }: ReceivingDependencies,
) {
  const { configuration, clock, log, metrics } = context;
  const { pool, outbox, accessStates, limiterOf } = opened;
  const deliveryStore = createDeliveryStore(pool);
  const rejectionStore = createRejectionStore(pool, sealer);
  const webhookBytesMax = () => configuration.get("limits.maxWebhookBytes");
  const dropped = metrics.counter("signalbox_webhook_rejections_dropped_total");
  const receivingMetrics = createReceivingMetrics(metrics, clock);
  const eventBytesMax = configuration.get("events.message.max-bytes");
  const mayWrite = createMayWrite(accessStates);
  const toleranceMs = () => configuration.get("webhook-ingest.tolerance");
  const judge = { clock, toleranceMs, eventBytesMax, mayWrite, keySets };
  const deliveryWriter = new DeliveryWriter({ deliveryStore, outbox, clock });
  await startRetaining(context, opened);
  const keepMs = () => configuration.get("webhook-ingest.received.retention");
  return {
    receivedStore: createReceivedStore({ pool, clock, keepMs }),
    rejectionStore,
    receiveWebhook: createReceiveWebhook({
      ...judge,
      ...{ knownSources, deliveryWriter, webhookBytesMax, metrics: receivingMetrics },
      isWithinRate: createRateCheck(limiterOf),
    }),
    retryRejection: createRetryRejection({
      ...{ judge, webhookBytesMax, knownSources, deliveryWriter, rejectionStore, outbox },
    }),
    recordRejection: recordAtSource(sourceIdAt, {
      rejectionStore,
      clock,
      log,
      keptMax: () => configuration.get("webhook-ingest.rejections.max"),
      onDropped: () => dropped.inc(),
    }),
    admission: createAdmission(),
    answerHandshake: createAnswerHandshake({ knownSources, mayWrite, clock }),
    sourceIdAt,
    ingestLimits: createIngestLimits({
      limiterOf,
      knownSources,
      sourceIdAt,
      mayWrite,
      clock,
      allowance: allowanceOf(configuration),
    }),
    keepMs,
    judge,
    knownSources,
    webhookBytesMax,
    eventBytesMax,
    mayWrite,
    baseUrl: configuration.get("http.base-url"),
    areIntegrationsEnabled,
    receivingMetrics,
  };
}

/** Records a rejection with its source, for any of the source's addresses. */
function recordAtSource(
  sourceIdAt: SourceIdAt,
  dependencies: Parameters<typeof createRecordRejection>[0],
): RecordRejection {
  const record = createRecordRejection(dependencies);
  return (rejection, ...rest) => {
    const recordAt = (sourceId: string) => record({ ...rejection, sourceId }, ...rest);
    void sourceIdAt(rejection.sourceId).then(recordAt, () => recordAt(rejection.sourceId));
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

/** Keeps the day tables of received webhooks, and deletes expired keys. */
async function startRetaining({ runner, clock, log, configuration }: Context, { pool }: Opened): Promise<void> {
  const keepMs = () => configuration.get("webhook-ingest.received.retention");
  const dayTables = createDayTables({ pool, clock, keepMs }, [{ name: "received_deliveries", column: "received_at" }]);
  // Before the first webhook: a row that finds no table for its day has to be moved later.
  const waitMs = configuration.get("database.start-wait");
  await atStart(() => dayTables.keep(), { waitMs, log });
  runner.every("received days", hours(1), () => dayTables.keep());
  // Rarely: pages that the BRIN of the column has not summarized yet are read each time.
  const rule = { name: "trim received keys", table: "received_keys", column: "received_at", keepMs } as const;
  startRetention({ runner, pool, clock }, [{ ...rule, unordered: true, batch: 5_000, everyMs: hours(1) }]);
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
