import { type Addresses, variableName } from "./addresses.ts";
import { startNames } from "./start-options.ts";
import type { SourceEntry, ValueSource } from "./value-source.ts";

/** Injected by Kubernetes for a Service named signalbox-…: `…_SERVICE_HOST`, `…_PORT=tcp://…`, `…_PORT_80_TCP_ADDR`. */
const serviceLink =
  /_SERVICE_HOST$|_SERVICE_PORT(?:_[A-Z0-9_]+)?$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/;
const serviceLinkValue = /^(?:tcp|udp|sctp):\/\//;

/** Variables of the `signalbox` command, which a person may have set in the shell that starts a service. */
const commandVariables: ReadonlySet<string> = new Set([
  "SIGNALBOX_URL",
  "SIGNALBOX_API_KEY",
  "SIGNALBOX_WEBHOOK_SECRET",
]);

/** Reads the variables with our prefix, named by their property; an unknown one keeps its own name. */
export function readEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  addresses: Addresses,
): ValueSource {
  const entries = new Map<string, SourceEntry>();
  const reserved = new Set(startNames.map(variableName));
  for (const [variable, raw] of Object.entries(environment)) {
    if (raw === undefined || !variable.startsWith("SIGNALBOX_") || reserved.has(variable)) continue;
    const address = addresses.fromEnvironment(variable);
    if (address === undefined && isOthers(variable, raw, addresses)) continue;
    entries.set(address ?? variable, { raw, origin: variable });
  }
  return { name: "environment", entries, faults: [] };
}

function isOthers(variable: string, raw: string, addresses: Addresses): boolean {
  if (commandVariables.has(variable)) return true;
  return addresses.isForeignVariable(variable) || serviceLink.test(variable) || serviceLinkValue.test(raw);
}
