import type { Clock } from "@signalbox/core";
import { type Metrics, ownPorts, type Runner } from "@signalbox/runtime";
import { createNameLookup } from "./name-lookup.ts";
import { createOutboundClient, type OutboundClient, type OutboundClientOptions } from "./outbound-client.ts";

interface Context {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly runner: Runner;
}

/**
 * Opens the outbound client of a service, which never calls an internal address or a listener of this process. Its
 * exchanges are measured, and it is closed with the process.
 */
export function openOutboundClient(
  { clock, metrics, runner }: Context,
  options: Omit<OutboundClientOptions, "clock" | "refusePorts" | "lookup" | "onEnd">,
): OutboundClient {
  const duration = metrics.histogram("signalbox_outbound_seconds");
  const outbound = createOutboundClient({
    ...options,
    clock,
    refusePorts: ownPorts,
    lookup: createNameLookup({ clock }),
    onEnd: (outcome, durationMs) => duration.observe({ outcome }, durationMs / 1000),
  });
  runner.defer("outbound client", () => outbound.close());
  return outbound;
}
