import { draft } from "@signalbox/contracts";
import { systemClock } from "@signalbox/core";
import { openEventLog, publishEvents } from "@signalbox/events";
import { packageProperties } from "@signalbox/infra/generate/package-properties.ts";
import type { PropertyDeclaration } from "@signalbox/runtime";
import { createLogger, createMetrics, createTracer } from "@signalbox/runtime";

/** A property of one service, with a value other than its default. */
export interface Overridable {
  readonly service: string;
  readonly name: string;
  /** The name that overrides it for this service alone. */
  readonly address: string;
  readonly declaration: PropertyDeclaration;
  readonly value: unknown;
}

/** Values of properties with a pattern. */
const texts: Readonly<Record<string, unknown>> = {
  "account.api-keys.environment": "moved",
};

/** Lists the properties of all services with this reload that accept overrides. */
export async function overridables(reload: "live" | "restart"): Promise<Overridable[]> {
  const services = (await packageProperties()).filter(({ kind }) => kind === "service");
  return services.flatMap(({ name: service, properties }) =>
    Object.entries(properties)
      .filter(
        ([, declaration]) => declaration.reload === reload && !declaration.local && declaration.secrecy !== "secret",
      )
      .map(([name, declaration]) => {
        const address = name.startsWith(`${service}.`) ? name : `${service}.${name}`;
        return { service, name, address, declaration, value: texts[name] ?? otherValue(name, declaration) };
      }),
  );
}

function otherValue(
  name: string,
  { type, default: value, choices, min = 0, max = Number.MAX_SAFE_INTEGER }: PropertyDeclaration,
) {
  if (choices) return choices.find((choice) => choice !== value);
  if (type === "boolean") return !value;
  if (type !== "integer" && type !== "number") throw new Error(`Say what ${name} can be set to`);
  const present = typeof value === "number" ? value : min;
  return present < max ? present + 1 : present - 1;
}

/** Publishes overrides where every service reads them, all at once and without the config service. */
export async function publishOverrides(
  eventsUrl: string,
  changes: readonly { readonly property: string; readonly set: boolean; readonly value: unknown }[],
  firstRevision: number,
): Promise<void> {
  const log = createLogger({ service: "test-e2e", instance: "overrides", level: "error" });
  const context = {
    log,
    clock: systemClock,
    metrics: createMetrics({ service: "test-e2e" }),
    tracer: createTracer("test-e2e"),
    service: "config" as const,
    clientId: "overrides",
  };
  const eventLog = await openEventLog(eventsUrl, context);
  const events = changes.map(({ property, set, value }, at) =>
    draft("config.changed", {
      subject: property,
      accountId: null,
      data: {
        property,
        set,
        value: value as never,
        revision: firstRevision + at,
        secrecy: "internal",
        actor: "acc_test",
        reason: null,
        changed_at: systemClock.now().toISOString(),
      },
    }),
  );
  await publishEvents({ ...context, eventLog }, events);
  await eventLog.close();
}
