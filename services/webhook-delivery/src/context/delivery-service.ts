import type { AccessStates } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import type { PageLimits } from "@signalbox/http";
import type { Logger, ServiceContext, Tracer, WakeUp } from "@signalbox/runtime";
import type { Statistics } from "@signalbox/service";
import type { GroupCommit, Pool, RateLimiter, Sealer } from "@signalbox/storage";
import type { Properties } from "@signalbox/webhook-delivery-service/properties";
import type { Announcements } from "../events/announcements.ts";
import type { Publication, PublishOutcome } from "../events/publication.ts";
import type { PublicationCounts } from "../events/publication-counts.ts";
import type { TypeNames } from "../events/type-names.ts";
import type { Sender } from "../sending/attempt-delivery.ts";
import type { AttemptLoop } from "../sending/attempt-loop.ts";
import type { AttemptResults } from "../sending/attempt-results.ts";
import type { EndpointCache } from "../sending/endpoint-cache.ts";
import type { Lanes } from "../sending/lanes.ts";
import type { Leases } from "../sending/leases.ts";
import type { OpenLeases } from "../sending/open-leases.ts";
import type { PullWaits } from "../sending/pull-waits.ts";
import type { EnforcedTypes } from "../state/enforced-types.ts";
import type { Replays } from "../state/replay-engine.ts";
import type { SchemaThreads } from "../state/schema-threads.ts";

export type DeliveryContext = ServiceContext<Properties>;

/** The context of this service's operations. `service.ts` fills it once, at the start. */
export interface DeliveryService {
  readonly configuration: DeliveryContext["configuration"];
  readonly clock: Clock;
  readonly log: Logger;
  readonly tracer: Tracer;
  readonly pool: Pool;
  readonly outbox: Outbox;
  readonly sealer: Sealer;
  readonly accessStates: AccessStates;
  readonly pageLimits: PageLimits;
  /** Makes attempts; its client also checks the URLs of endpoints. */
  readonly sender: Sender;
  /** The endpoints of accounts, opened and compiled, as events and attempts use them. */
  readonly endpointCache: EndpointCache;

  readonly publishLimiter: RateLimiter;
  /** The publications of requests that meet, which share a transaction. */
  readonly publications: GroupCommit<Publication, PublishOutcome | Promise<PublishOutcome>>;
  readonly publicationCounts: PublicationCounts;
  readonly announcements: Announcements;
  readonly typeNames: TypeNames;
  readonly enforcedTypes: EnforcedTypes;
  readonly schemaThreads: SchemaThreads;

  /** Wakes the loop of claims, because deliveries may be due. */
  readonly wakeUp: WakeUp;
  readonly lanes: Lanes;
  readonly leases: Leases;
  readonly attempts: AttemptLoop;
  readonly results: AttemptResults;
  readonly pullWaits: PullWaits;
  readonly openLeases: OpenLeases;
  readonly replayEngine: Replays;
  readonly statistics: Statistics;
}
