import type { OutboundClient } from "@signalbox/net";
import type { ServiceContext } from "@signalbox/runtime";
import type { OpenedService } from "@signalbox/service";
import type { Sealer } from "@signalbox/storage";
import type { Properties } from "../properties.ts";
import type { Delivery, Origin } from "../receiving/delivery.ts";
import { idKeyOf } from "../receiving/delivery-keys.ts";
import type { DeliveryWriter } from "../receiving/delivery-writer.ts";
import type { Judge } from "../receiving/judge-webhook.ts";
import { readable, type SenderName } from "../sources/sender-key.ts";
import { createSenderKeys } from "../sources/sender-keys.ts";
import type { SourceCache } from "../sources/source-cache.ts";
import { createSenderKeyStore, type SourceStore } from "../sources/source-store.ts";
import { createGithubHistory } from "./github-history.ts";
import { createMissedStore } from "./missed-store.ts";
import { createOutages } from "./outages.ts";
import { createReconcileStep } from "./reconcile-step.ts";
import { createReconciliationStore } from "./reconciliation-store.ts";
import { createReconciliations } from "./reconciliations.ts";
import { createRecoverWebhook } from "./recover-webhook.ts";
import type { SenderHistory } from "./sender-history.ts";
import { createSenderRequests } from "./sender-requests.ts";
import { createStripeHistory } from "./stripe-history.ts";
import { createWalkHistory } from "./walk-history.ts";

interface Parts {
  readonly sealer: Sealer;
  readonly sourceStore: SourceStore;
  readonly knownSources: SourceCache;
  readonly outbound: OutboundClient;
  readonly keepMs: () => number;
}

/** The writing of recovered webhooks, which needs the judge. */
interface Recovery {
  readonly judge: Judge;
  readonly deliveryWriter: DeliveryWriter;
}

/** Creates what compares sources with their senders' lists: the keys of senders, the runs, the outages. */
export function openReconciling(
  context: ServiceContext<Properties>,
  { pool, outbox }: OpenedService,
  { sealer, sourceStore, knownSources, outbound, keepMs }: Parts,
) {
  const { clock, log, metrics, configuration } = context;
  const request = createSenderRequests({ outbound, clock, metrics });
  const histories: Readonly<Record<SenderName, SenderHistory>> = {
    github: createGithubHistory(request),
    stripe: createStripeHistory(request),
  };
  const runs = createReconciliationStore(pool);
  const missed = createMissedStore(pool, metrics);
  const reconciliations = createReconciliations({ reconciliationStore: runs, histories, outbox, clock, keepMs });
  const { schedule } = reconciliations;
  const senderKeyStore = createSenderKeyStore(pool, sealer);
  const keyed = { pool, sourceStore, senderKeyStore, knownSources, outbox, clock, outbound, schedule };
  const senderKeys = createSenderKeys(keyed);
  return {
    reconciliations,
    senderKeys,
    outages: createOutages({ pool, clock, log }),

    /** Returns `reconciled` for a webhook that the sender was asked to send again. Few senders have to be asked. */
    async originOf({ source, deliveryId }: Delivery): Promise<Origin> {
      const { senderKey } = source;
      if (senderKey === null || readable[senderKey.sender].place === "key") return "pushed";
      return (await missed.isAsked(source.id, idKeyOf(deliveryId.value))) ? "reconciled" : "pushed";
    },

    /** Creates the step of the worker. */
    createStep: ({ judge, deliveryWriter }: Recovery) =>
      createReconcileStep({
        pool,
        stores: { runs, missed, senderKeys: senderKeyStore },
        senders: {
          histories,
          walkHistory: createWalkHistory({
            runs,
            missed,
            recover: createRecoverWebhook({ judge, deliveryWriter, missed }),
            clock,
          }),
        },
        knownSources,
        judge,
        senderKeys,
        telemetry: { log, metrics },
        times: { intervalMs: () => configuration.get("webhook-ingest.reconciliation.interval"), keepMs },
      }),
  };
}
