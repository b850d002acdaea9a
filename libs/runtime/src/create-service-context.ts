import { type Clock, randomId, type ServiceName, systemClock } from "@signalbox/core";
import type { Configuration } from "./config/configuration.ts";
import type { PropertyDeclarations } from "./config/property-declaration.ts";
import type { ProcessRunner } from "./create-runner.ts";
import type { ProcessHealth } from "./health.ts";
import type { RuntimeProperties } from "./properties.ts";
import { countUnhandledRejections } from "./request-scope.ts";
import type { ServiceContext } from "./service-context.ts";
import { createLogger, type Logger } from "./telemetry/logger.ts";
import { createMetrics, type Metrics } from "./telemetry/metrics.ts";
import { createTracer } from "./telemetry/tracing/tracer.ts";

export interface CreateServiceContext<P extends PropertyDeclarations> {
  readonly service: ServiceName;
  readonly configuration: Configuration<P>;
  readonly runner: ProcessRunner;
  readonly health: ProcessHealth;
  /** True when other services share the process: names of parts then have the service's prefix. */
  readonly shared: boolean;
  readonly clock?: Clock;
  /** The instance and its logger, when the process has created them already. */
  readonly identity?: { readonly instance: string; readonly log: Logger };
}

/** Builds the context of one service from the parts of its process. */
export function createServiceContext<P extends PropertyDeclarations & RuntimeProperties>(
  given: CreateServiceContext<P>,
): ServiceContext<P> {
  const { service, configuration, clock = systemClock } = given;
  const common = configuration as Configuration<RuntimeProperties>;
  const { instance, log } = given.identity ?? createIdentity(service, common, clock);
  common.onChange("log.level", (level) => log.setLevel(level));

  const metrics = createMetrics({ service, process: !given.shared });
  tellBuild(metrics, common);
  if (!given.shared) countUnhandledRejections(metrics);
  const prefix = `${service}/`;
  const workers = () => given.runner.workers().filter(({ name }) => !given.shared || name.startsWith(prefix));
  const nameOf = (name: string) => (given.shared ? name.slice(prefix.length) : name);
  const counted = new Map<string, number>();
  metrics.counter("signalbox_worker_restarts_total", (counter) => {
    for (const { name, restarts } of workers()) {
      counter.inc({ worker: name }, restarts - (counted.get(name) ?? 0));
      counted.set(name, restarts);
    }
  });
  metrics.gauge("signalbox_worker_silence_seconds", (gauge) => {
    for (const { name, silentMs } of workers()) if (silentMs !== null) gauge.set({ worker: name }, silentMs / 1000);
  });
  return {
    service,
    instance,
    configuration,
    log,
    tracer: createTracer(service),
    metrics,
    clock,
    runner: given.shared ? given.runner.scoped(service) : given.runner,
    health: given.shared ? given.health.scoped(service) : given.health,
    workers: () => workers().map((worker) => ({ ...worker, name: nameOf(worker.name) })),
  };
}

function tellBuild(metrics: Metrics, configuration: Configuration<RuntimeProperties>): void {
  const version = configuration.get("deployment.release") ?? "unreleased";
  const commit = configuration.get("deployment.commit") ?? "unknown";
  metrics.gauge("signalbox_build_info").set({ version, commit }, 1);
}

/** Names this start of a service, and creates the logger that adds the name to each line. */
export function createIdentity(service: ServiceName, configuration: Configuration<RuntimeProperties>, clock: Clock) {
  const instance = randomId(service);
  return { instance, log: createLogger({ service, instance, level: configuration.get("log.level"), clock }) };
}
