import type { Properties } from "@signalbox/config-service/properties";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import type { PageLimits } from "@signalbox/http";
import type { Configuration, Logger, Metrics } from "@signalbox/runtime";
import type { CountedStatistics, Flags } from "@signalbox/service";
import type { Pool } from "@signalbox/storage";
import type { AppliedReports } from "../state/applied-reports.ts";
import type { PropertyCatalogue } from "../state/property-catalogue.ts";
import type { PublishedConfiguration } from "../state/published-configuration.ts";
import type { ConfigStream } from "../stream/config-stream.ts";

/** The context of every operation; `service.ts` fills it once. */
export interface ConfigService {
  readonly configuration: Configuration<Properties>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly pool: Pool;
  readonly outbox: Outbox;
  readonly pageLimits: PageLimits;
  /** Evaluates flags, and holds the newest changes of the state topic. */
  readonly flags: Flags;
  /** Evaluations by flag and variant. */
  readonly flagStatistics: CountedStatistics;
  /** Returns the milliseconds since the active overrides were last known to be the newest. */
  readonly configurationAgeMs: () => number;
  readonly startedAt: Date;
  /** Aborts when the process turns unready. */
  readonly leaving: AbortSignal;

  /** Every property of every service. */
  readonly catalogue: PropertyCatalogue;
  /** The values that each instance runs with. */
  readonly reports: AppliedReports;
  readonly published: PublishedConfiguration;
  /** The reasons why expired overrides are still active, a sentence each. */
  expiryProblems: readonly string[];
  readonly stream: ConfigStream;
}
