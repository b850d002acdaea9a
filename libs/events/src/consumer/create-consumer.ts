import type { Clock } from "@signalbox/core";
import type { ServiceName } from "@signalbox/contracts";
import type { Runner } from "@signalbox/runtime";
import type { Pool } from "@signalbox/storage";
import type { Logger, Metrics, Tracer } from "@signalbox/telemetry";
import type { DeadLetters } from "../dead-letters/dead-letters.ts";
import type { EventLog } from "../event-log.ts";
import type { ConsumerTable, StatelessTable } from "./consumer-table.ts";

export interface ConsumerOptionsBase {
  readonly service: ServiceName;
  /** Unique within the service. The group on the log is `<service>.<name>`, so a new name starts from the beginning. */
  readonly name: string;
  readonly eventLog: EventLog;
  readonly log: Logger;
  readonly tracer: Tracer;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly deadLetters: DeadLetters;
  /** Messages handled at the same time, of different keys. Default 8. */
  readonly concurrency?: number;
}

export type ConsumerOptions = ConsumerOptionsBase &
  ({ readonly pool: Pool; readonly table: ConsumerTable } | { readonly pool: null; readonly table: StatelessTable });

export interface Consumer {
  /** Starts the named workers of the consumer. */
  start(runner: Pick<Runner, "worker">): void;
}

export declare function createConsumer(options: ConsumerOptions): Consumer;
