import type { AccessStates } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import type { PageLimits } from "@signalbox/http";
import type { OutboundClient } from "@signalbox/net";
import type { Configuration, Logger, Metrics } from "@signalbox/runtime";
import type { EdgeLimits } from "@signalbox/service";
import type { Pool, Sealer } from "@signalbox/storage";
import type { Properties } from "@signalbox/webhook-ingest-service/properties";
import type { Admission } from "../state/admission.ts";
import type { CertificateCache } from "../state/certificate-cache.ts";
import type { JwksCache } from "../state/jwks-cache.ts";
import type { ReceivingMetrics } from "../state/receiving-metrics.ts";
import type { RefusalThrottle } from "../state/refusal-throttle.ts";
import type { RejectionBudget } from "../state/rejection-budget.ts";
import type { ReceivedReplays, RejectionRetries } from "../state/replay-engine.ts";
import type { SourceCache } from "../state/source-cache.ts";
import type { SourceStatistics } from "../state/source-statistics.ts";
import type { WebhookWriter } from "../state/webhook-writer.ts";

/** The context of every operation; `service.ts` fills it once. */
export interface IngestService {
  readonly configuration: Configuration<Properties>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly pool: Pool;
  readonly outbox: Outbox;
  readonly sealer: Sealer;
  readonly accessStates: AccessStates;
  readonly pageLimits: PageLimits;
  /** Returns the limiter of a policy; the same for the same name. */
  readonly limiterOf: EdgeLimits["limiterOf"];
  /** Calls senders, but never an internal address. */
  readonly outbound: OutboundClient;

  readonly sourceCache: SourceCache;
  readonly jwksCache: JwksCache;
  readonly certificateCache: CertificateCache;

  readonly admission: Admission;
  readonly refusalThrottle: RefusalThrottle;
  readonly webhookWriter: WebhookWriter;
  readonly rejectionBudget: RejectionBudget;
  readonly replayEngine: ReceivedReplays;
  readonly retryEngine: RejectionRetries;
  readonly sourceStatistics: SourceStatistics;
  readonly receivingMetrics: ReceivingMetrics;
}
