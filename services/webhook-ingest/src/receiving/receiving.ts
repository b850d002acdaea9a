import type { AccessStates } from "@signalbox/auth";
import type { Configuration } from "@signalbox/config";
import { mayAccess } from "@signalbox/contracts";
import { AppError, hours } from "@signalbox/core";
import type { ServiceContext } from "@signalbox/runtime";
import type { OpenedService } from "@signalbox/service";
import { startRetention } from "@signalbox/storage";
import type { Properties } from "../properties.ts";
import type { KnownSources } from "../sources/known-sources.ts";
import type { SourceIdAt } from "../sources/source-id-at.ts";
import { createAdmission } from "./admission.ts";
import { createAnswerHandshake } from "./answer-handshake.ts";
import { createDeliveryStore } from "./delivery-store.ts";
import { DeliveryWriter } from "./delivery-writer.ts";
import { createIngestLimits } from "./ingest-limits.ts";
import { createReceiveWebhook } from "./receive-webhook.ts";
import { createRecordRejection, type RecordRejection } from "./record-rejection.ts";
import { createRejectionStore } from "./rejection-store.ts";

type Context = Pick<ServiceContext<Properties>, "configuration" | "runner" | "clock" | "log" | "metrics">;
type Opened = Pick<OpenedService, "pool" | "outbox" | "accessStates" | "limiterOf">;

interface Doors {
  readonly knownSources: KnownSources;
  readonly sourceIdAt: SourceIdAt;
  /** Whether this deployment takes webhooks of partners. */
  readonly areOpen: () => boolean;
}

/** What receives webhooks, wired: the parts of its routes and the workers behind them. */
export function openReceiving(context: Context, opened: Opened, { knownSources, sourceIdAt, areOpen }: Doors) {
  const { configuration, clock, log, metrics } = context;
  const { pool, outbox, accessStates, limiterOf } = opened;
  const deliveryStore = createDeliveryStore(pool);
  const rejectionStore = createRejectionStore(pool);
  const webhookBytesMax = () => configuration.get("limits.maxWebhookBytes");
  const dropped = metrics.counter("signalbox_webhook_rejections_dropped_total");
  const outcomes = metrics.counter("signalbox_webhooks_received_total");
  startTrimming(context, opened);
  const mayWrite = createMayWrite(accessStates);
  return {
    deliveryStore,
    rejectionStore,
    receiveWebhook: createReceiveWebhook({
      knownSources,
      deliveryWriter: new DeliveryWriter({ deliveryStore, outbox }),
      clock,
      webhookBytesMax,
      toleranceMs: () => configuration.get("webhook-ingest.tolerance"),
      eventBytesMax: configuration.get("events.message.max-bytes"),
      mayWrite,
    }),
    recordRejection: atItsSource(sourceIdAt, {
      rejectionStore,
      clock,
      log,
      keptMax: () => configuration.get("webhook-ingest.rejections.max"),
      onDropped: () => dropped.inc(),
    }),
    admission: createAdmission(),
    answerHandshake: createAnswerHandshake({ knownSources, mayWrite, clock }),
    sourceIdAt,
    ingestLimits: createIngestLimits(limiterOf, allowanceOf(configuration)),
    webhookBytesMax,
    baseUrl: configuration.get("http.base-url"),
    areOpen,
    count: (scheme: string, outcome: string) => outcomes.inc({ scheme, outcome }),
  };
}

/** A rejection is its source's, whichever of its addresses the webhook came to. */
function atItsSource(
  sourceIdAt: SourceIdAt,
  dependencies: Parameters<typeof createRecordRejection>[0],
): RecordRejection {
  const record = createRecordRejection(dependencies);
  return (rejection, ...rest) => {
    const recordAt = (sourceId: string) => record({ ...rejection, sourceId }, ...rest);
    void sourceIdAt(rejection.sourceId).then(recordAt, () => recordAt(rejection.sourceId));
  };
}

const allowanceOf = (configuration: Configuration<Properties>) => ({
  unknownSources: configuration.get("webhook-ingest.refusals.unknown-sources"),
  failedVerifications: configuration.get("webhook-ingest.refusals.failed-verifications"),
});

/** Deletes what is past its time. Seldom: what the BRIN of the column has not summed up yet is read each time. */
function startTrimming({ runner, clock, configuration }: Context, { pool }: Opened): void {
  const keepMs = () => configuration.get("webhook-ingest.received.retention");
  const shared = { column: "received_at", unordered: true, keepMs, batch: 5_000, everyMs: hours(1) } as const;
  startRetention({ runner, pool, clock }, [
    { ...shared, name: "trim received", table: "received_deliveries" },
    { ...shared, name: "trim received keys", table: "received_keys" },
  ]);
}

/** Nobody authenticates at ingest, so it is here that nothing passes before the access states are known. */
function createMayWrite(accessStates: AccessStates) {
  return (accountId: string): boolean => {
    if (!accessStates.isCaughtUp())
      throw new AppError("unavailable", "Access is being read.", { retryAfterSeconds: 1 });
    return mayAccess(accessStates.stateOf(accountId)?.state ?? "active", "write");
  };
}
