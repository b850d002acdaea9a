import { errorDocsAt } from "@signalbox/core";
import type { Configuration } from "./config/configuration.ts";
import type { ErrorDocs } from "./error-response.ts";
import type { Management } from "./management-routes.ts";
import { type Listener, type OpenListener, openListener } from "./open-listener.ts";
import { openManagementServer } from "./open-management-server.ts";
import type { RuntimeProperties } from "./properties.ts";
import type { Runner } from "./runner.ts";
import type { Logger } from "./telemetry/logger.ts";
import { startTelemetry } from "./telemetry/start-telemetry.ts";

/** The parts of a process that its listeners and its telemetry need. */
interface Process {
  readonly configuration: Configuration<RuntimeProperties>;
  readonly runner: Runner;
  readonly log: Logger;
}

/** Starts telemetry, which ends with the process. */
export async function openTelemetry(
  { configuration, runner, log }: Process,
  identity: { readonly service: string; readonly instance?: string },
): Promise<void> {
  const commit = configuration.get("deployment.commit");
  const telemetry = await startTelemetry({
    ...identity,
    log,
    version: configuration.get("deployment.release") ?? "unreleased",
    otlpEndpoint: configuration.get("telemetry.otlp-endpoint"),
    otlpHeaders: pairsOf(configuration.get("telemetry.otlp-headers")),
    resourceAttributes: {
      "deployment.environment.name": configuration.get("deployment.environment"),
      ...(commit !== null && { "vcs.ref.head.revision": commit }),
      ...pairsOf(configuration.get("telemetry.resource-attributes")),
    },
    sampleRatio: configuration.get("telemetry.sample-ratio"),
  });
  runner.defer("telemetry", () => telemetry.close());
}

/** Splits each item at its first `=` into name and value. */
function pairsOf(items: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(items.map((item) => [item.slice(0, item.indexOf("=")), item.slice(item.indexOf("=") + 1)]));
}

interface ManagementDoor extends Omit<Management, "errorResponse"> {
  readonly service: string;
  readonly instance: string;
  readonly errorDocs?: ErrorDocs;
}

/** Opens the management server; `info` adds to the description of the process. */
export function openManagement(
  { configuration, ...process }: Process,
  { service, instance, errorDocs = errorDocsOf(configuration), info, ...management }: ManagementDoor,
): Promise<Listener> {
  return openManagementServer({
    ...process,
    ...management,
    host: configuration.get("management.server.host"),
    port: configuration.get("management.server.port"),
    basePath: configuration.get("management.endpoints.web.base-path"),
    exposure: configuration.get("management.endpoints.web.exposure.include"),
    errorDocs,
    info: () => ({
      service,
      instance,
      release: configuration.get("deployment.release"),
      commit: configuration.get("deployment.commit"),
      environment: configuration.get("deployment.environment"),
      region: configuration.get("deployment.region"),
      platform: configuration.get("deployment.platform"),
      node: globalThis.process.version,
      ...info(),
    }),
  });
}

type ServiceDoor = Pick<OpenListener, "listener" | "upgrade"> & Partial<Pick<OpenListener, "errorDocs">>;

/** Opens the public or the internal port with the limits of the configuration. */
export function openServiceListener(
  { configuration, runner }: Process,
  name: "http" | "internal",
  { errorDocs = errorDocsOf(configuration), ...door }: ServiceDoor,
): Promise<Listener> {
  return openListener(runner, {
    ...door,
    name,
    host: configuration.get(`${name}.host`),
    port: configuration.get(`${name}.port`),
    headerTimeoutMs: configuration.get("http.header-timeout"),
    stallTimeoutMs: configuration.get("http.stall-timeout"),
    keepAliveTimeoutMs: configuration.get("http.keep-alive-timeout"),
    drainIdleMs: configuration.get("shutdown.keep-alive"),
    headerBytesMax: configuration.get("http.header-max-bytes"),
    errorDocs,
  });
}

const errorDocsOf = (configuration: Process["configuration"]): string =>
  errorDocsAt(configuration.get("http.error-docs"), configuration.get("http.base-url"));
