import process from "node:process";
import { errorDocsAt, type ServiceName, systemClock } from "@signalbox/core";
import { collectGarbage } from "./collect-garbage.ts";
import type { Configuration } from "./config/configuration.ts";
import { ConfigurationError } from "./config/configuration-error.ts";
import { environment } from "./config/environment.ts";
import { loadConfiguration } from "./config/load-configuration.ts";
import type { PropertyDeclarations } from "./config/property-declaration.ts";
import { startHelp } from "./config/start-help.ts";
import { startOptions } from "./config/start-options.ts";
import { createHealth } from "./create-health.ts";
import { createRunner } from "./create-runner.ts";
import { createIdentity, createServiceContext } from "./create-service-context.ts";
import { knownPropertyNames } from "./known-property-names.ts";
import { openListener } from "./open-listener.ts";
import { openManagementServer } from "./open-management-server.ts";
import type { RuntimeProperties } from "./properties.ts";
import { runUntilStopped } from "./run-until-stopped.ts";
import type { AuthorizeManagement, ServiceContext, ServiceParts } from "./service-context.ts";
import { startTelemetry } from "./telemetry/start-telemetry.ts";

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
      const telemetry = await startTelemetry({
        service,
        instance: context.instance,
        log,
        ...telemetryOptions(common),
      });
      runner.defer("telemetry", () => telemetry.close());

      let authorize: AuthorizeManagement | null | undefined;
      let parts: ServiceParts = {};
      const management = await openManagementServer({
        runner,
        log,
        ...managementAddress(common),
        health,
        services: [{ service, configuration, metrics: context.metrics }],
        info: () => ({ ...describeProcess(service, context.instance, common), ...parts.info?.() }),
        authorize: () => authorize,
      });
      const { createService } = await options.load();
      parts = await createService(context);
      authorize = parts.authorizeManagement ?? null;
      collectGarbage();
      const open = (name: "http" | "internal", listener: ServiceParts["public"], upgrade?: ServiceParts["upgrade"]) =>
        listener && openListener(runner, { ...listenerLimits(common), ...addressOf(name, common), listener, upgrade });
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

type RuntimeConfiguration = Pick<Configuration<RuntimeProperties>, "get">;

/** Reads the address of the management server and its exposed endpoints. */
export function managementAddress(configuration: RuntimeConfiguration) {
  return {
    host: configuration.get("management.server.host"),
    port: configuration.get("management.server.port"),
    basePath: configuration.get("management.endpoints.web.base-path"),
    exposure: configuration.get("management.endpoints.web.exposure.include"),
    errorDocs: errorDocsAt(configuration.get("http.error-docs"), configuration.get("http.base-url")),
  };
}

/** Reads the options of telemetry. */
export function telemetryOptions(configuration: RuntimeConfiguration) {
  const commit = configuration.get("deployment.commit");
  return {
    version: configuration.get("deployment.release") ?? "unreleased",
    otlpEndpoint: configuration.get("telemetry.otlp-endpoint"),
    otlpHeaders: pairsOf(configuration.get("telemetry.otlp-headers")),
    resourceAttributes: {
      "deployment.environment.name": configuration.get("deployment.environment"),
      ...(commit !== null && { "vcs.ref.head.revision": commit }),
      ...pairsOf(configuration.get("telemetry.resource-attributes")),
    },
    sampleRatio: configuration.get("telemetry.sample-ratio"),
  };
}

/** Splits each item at its first `=` into name and value. */
function pairsOf(items: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(items.map((item) => [item.slice(0, item.indexOf("=")), item.slice(item.indexOf("=") + 1)]));
}

/** Reads the limits of a listener. */
export function listenerLimits(configuration: RuntimeConfiguration) {
  return {
    headerTimeoutMs: configuration.get("http.header-timeout"),
    stallTimeoutMs: configuration.get("http.stall-timeout"),
    keepAliveTimeoutMs: configuration.get("http.keep-alive-timeout"),
    drainIdleMs: configuration.get("shutdown.keep-alive"),
    headerBytesMax: configuration.get("http.header-max-bytes"),
    errorDocs: errorDocsAt(configuration.get("http.error-docs"), configuration.get("http.base-url")),
  };
}

/** Describes a process for `info`. */
export function describeProcess(name: string, instance: string, configuration: RuntimeConfiguration): object {
  return {
    service: name,
    instance,
    release: configuration.get("deployment.release"),
    commit: configuration.get("deployment.commit"),
    environment: configuration.get("deployment.environment"),
    region: configuration.get("deployment.region"),
    platform: configuration.get("deployment.platform"),
    node: process.version,
  };
}

function addressOf(name: "http" | "internal", configuration: RuntimeConfiguration) {
  return { name, host: configuration.get(`${name}.host`), port: configuration.get(`${name}.port`) };
}
