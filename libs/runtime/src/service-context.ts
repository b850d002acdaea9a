import type { IncomingHttpHeaders, IncomingMessage, RequestListener } from "node:http";
import type { Duplex } from "node:stream";
import type { Clock, ServiceName } from "@signalbox/core";
import type { Configuration } from "./config/configuration.ts";
import type { Health } from "./health.ts";
import type { Runner } from "./runner.ts";
import type { WorkerState } from "./supervise-worker.ts";
import type { Logger } from "./telemetry/logger.ts";
import type { Metrics } from "./telemetry/metrics.ts";
import type { Tracer } from "./telemetry/tracing/tracer.ts";

/** The dependencies of a service. It reads nothing of the process by itself, so several fit into one. */
export interface ServiceContext<P> {
  readonly service: ServiceName;
  /** Distinguishes instances of a service: new at each start. */
  readonly instance: string;
  readonly configuration: Configuration<P>;
  readonly log: Logger;
  readonly tracer: Tracer;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly runner: Runner;
  readonly health: Health;
  /** The workers of this service in this process, and their state now. */
  readonly workers: () => readonly WorkerState[];
}

export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** A reader of the management `env`. */
interface ManagementReader {
  /** True for a reader who may also change the configuration. */
  readonly isOperator: boolean;
  /** Records in the audit that values were shown. */
  recordRead(): void;
}

/** Decides about a reader. Throws an AppError `rate_limited` for an address with too many failures. */
export type AuthorizeManagement = (
  headers: IncomingHttpHeaders,
  address: string,
) => Promise<ManagementReader | "unauthorized" | "forbidden">;

/** The parts that a service returns: listeners that the process puts on ports. */
export interface ServiceParts {
  readonly public?: RequestListener;
  readonly internal?: RequestListener;
  readonly upgrade?: UpgradeListener;
  /** Decides about readers of `env` on the management server. */
  readonly authorizeManagement?: AuthorizeManagement;
  /** Returns this service's part of `info`. */
  readonly info?: () => object;
}
