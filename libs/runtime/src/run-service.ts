import process from "node:process";
import { type ServiceName, systemClock } from "@signalbox/core";
import { collectGarbage } from "./collect-garbage.ts";
import { type Configuration, ConfigurationError } from "./config/configuration.ts";
import { environment } from "./config/environment.ts";
import { loadConfiguration } from "./config/load-configuration.ts";
import type { PropertyDeclarations } from "./config/property-declaration.ts";
import { startHelp } from "./config/start-help.ts";
import { startOptions } from "./config/start-options.ts";
import { createRunner } from "./create-runner.ts";
import { createIdentity, createServiceContext } from "./create-service-context.ts";
import { createHealth } from "./health.ts";
import { knownPropertyNames } from "./known-property-names.ts";
import { openManagement, openServiceListener, openTelemetry } from "./process-doors.ts";
import type { RuntimeProperties } from "./properties.ts";
import { runUntilStopped } from "./run-until-stopped.ts";
import type { AuthorizeManagement, ServiceContext, ServiceParts } from "./service-context.ts";

export interface RunService<P extends PropertyDeclarations> {
  readonly service: ServiceName;
  readonly properties: P;
  /** Imports the service, after telemetry has started. */
  readonly load: () => Promise<{ createService(context: ServiceContext<P>): Promise<ServiceParts> }>;
}

/** Runs one service as this process: configuration, telemetry, management, the service, its listeners, the stop. */
export async function runService<P extends PropertyDeclarations & RuntimeProperties>(
  options: RunService<P>,
): Promise<void> {
  const { service } = options;
  const help = startHelp(service, process.argv.slice(2));
  if (help !== null) return void process.stdout.write(help);
  const configuration = readConfiguration(options);
  if (configuration === null) return;
  const common = configuration as Configuration<RuntimeProperties>;
  const clock = systemClock;
  const identity = createIdentity(service, common, clock);
  const { log } = identity;
  const runner = createRunner({ log, clock });
  const health = createHealth({ log });

  await runUntilStopped({
    runner,
    health,
    log,
    deadlineMs: common.get("shutdown.deadline"),
    graceMs: common.get("shutdown.grace"),
    start: async () => {
      const startup = health.startup("service");
      const context = createServiceContext({ service, configuration, runner, health, shared: false, clock, identity });
      const { instance } = context;
      const doors = { configuration: common, runner, log };
      await openTelemetry(doors, { service, instance });

      let authorize: AuthorizeManagement | null | undefined;
      let parts: ServiceParts = {};
      const management = await openManagement(doors, {
        service,
        instance,
        health,
        services: [{ service, configuration, metrics: context.metrics }],
        info: () => ({ ...parts.info?.() }),
        authorize: () => authorize,
      });
      const { createService } = await options.load();
      parts = await createService(context);
      authorize = parts.authorizeManagement ?? null;
      collectGarbage();
      const open = (name: "http" | "internal", listener: ServiceParts["public"], upgrade?: ServiceParts["upgrade"]) =>
        listener && openServiceListener(doors, name, { listener, upgrade });
      const http = await open("http", parts.public, parts.upgrade);
      const internal = await open("internal", parts.internal);
      startup.done();
      context.log.info(
        { http: http?.url, internal: internal?.url, management: management.url },
        "The service is ready",
      );
    },
  });
}

/** Reads the configuration of this process; on a problem prints it on standard error and sets the exit code. */
function readConfiguration<P extends PropertyDeclarations>(options: RunService<P>): Configuration<P> | null {
  const argv = process.argv.slice(2);
  const variables = environment();
  const { profile, directory } = startOptions(argv, variables);
  try {
    return loadConfiguration({
      service: options.service,
      properties: options.properties,
      argv,
      environment: variables,
      directory: directory ?? process.cwd(),
      profile,
      foreignNames: knownPropertyNames(),
    });
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
    return null;
  }
}
