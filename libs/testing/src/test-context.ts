import { type Configuration, loadConfiguration, type PropertyDeclarations } from "@signalbox/config";
import { type Clock, randomId, type ServiceName, systemClock } from "@signalbox/core";
import type { ServiceContext } from "@signalbox/runtime";
import { createLogger, createMetrics, createTracer } from "@signalbox/telemetry";
import { createTestHealth } from "./test-health.ts";
import { createTestRunner } from "./test-runner.ts";

type Overrides<P> = { readonly [N in keyof P & string]?: string | number | boolean | readonly string[] };

export interface TestContext<P extends PropertyDeclarations> extends ServiceContext<P> {
  readonly configuration: Configuration<P>;
  /** The lines logged so far, parsed. Nothing is printed. */
  readonly logged: readonly Record<string, unknown>[];
  /** Ends the workers, drains and closes in reverse, as the end of the process would. Fails with what a worker threw. */
  close(): Promise<void>;
}

/**
 * What a service is handed at its start, for tests of services and libraries inside one process: defaults of the given
 * properties, with the overrides above them as if given on the command line.
 */
export function testContext<const P extends PropertyDeclarations>(
  service: ServiceName,
  properties: P,
  overrides: Overrides<P> = {},
  { clock = systemClock }: { clock?: Clock } = {},
): TestContext<P> {
  const instance = randomId("test");
  const logged: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void logged.push(JSON.parse(line)) };
  const argv = Object.entries(overrides).map(([name, value]) => `--${name}=${value}`);
  const runner = createTestRunner();
  return {
    service,
    instance,
    configuration: loadConfiguration({ service, properties, argv, environment: {}, directory: null }),
    log: createLogger({ service, instance, level: "debug", destination }),
    tracer: createTracer(service),
    metrics: createMetrics({ service }),
    clock,
    runner,
    health: createTestHealth(),
    logged,
    close: () => runner.close(),
  };
}
