import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, randomId, type ServiceName, seconds, systemClock } from "@signalbox/core";
import {
  createHealth,
  createLogger,
  createMetrics,
  createRunner,
  createTracer,
  loadConfiguration,
  type PropertyDeclarations,
  type ServiceContext,
} from "@signalbox/runtime";

const copyDirectory = "config.copy-directory";

/** Values of properties, as if given on the command line. */
export type Overrides<P> = { readonly [N in keyof P & string]?: string | number | boolean | readonly string[] };

export interface TestContext<P extends PropertyDeclarations> extends ServiceContext<P> {
  /** The lines logged so far, parsed. Nothing is printed. */
  readonly logged: readonly Readonly<Record<string, unknown>>[];
  /**
   * Drains, ends the workers and closes in reverse order, as a process does at its end. Fails with the names of what
   * stays open.
   */
  close(): Promise<void>;
}

/**
 * Creates the context that a service gets at its start, for tests inside one process: the defaults of the given
 * properties, with `overrides` on top as if given on the command line. Runner and health are the real ones.
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
  const log = createLogger({ service, instance, level: "debug", destination });
  // A folder of its own: a test must not start with another test's copies of overrides.
  const folder = join(tmpdir(), "signalbox-copies", instance);
  const own = {
    ...(copyDirectory in properties && { [copyDirectory]: folder }),
    // Tests count events and rows; those of the canary switch it on.
    ...("canary.enabled" in properties && { "canary.enabled": false }),
  };
  const argv = Object.entries({ ...own, ...overrides }).map(([name, value]) => `--${name}=${value}`);
  const runner = createRunner({ log, clock: systemClock });
  return {
    service,
    instance,
    configuration: loadConfiguration({ service, properties, argv, environment: {}, directory: null }),
    log,
    tracer: createTracer(service),
    metrics: createMetrics({ service }),
    clock,
    runner,
    health: createHealth({ log }),
    workers: () => runner.workers(),
    logged,
    close: async () => {
      const open = await runner.stop(seconds(20));
      await rm(folder, { recursive: true, force: true });
      if (open.length > 0) throw new Error(`still open after the stop: ${open.join(", ")}`);
    },
  };
}
