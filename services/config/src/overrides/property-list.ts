import { type Audience, isVisibleTo } from "@signalbox/contracts";
import { masked } from "@signalbox/core";
import type { PropertyDeclaration } from "@signalbox/runtime";
import type { ConfigService } from "../context/config-service.ts";
import { addressesOf } from "../state/property-catalogue.ts";
import { type Override, overridesByName } from "./override-store.ts";

/**
 * Lists every property that the audience may see, of every service, with each instance's value and the active
 * overrides.
 */
export async function listProperties(service: ConfigService, audience: Audience) {
  const { pool, configuration, catalogue } = service;
  const overrideOf = await overridesByName(pool);
  const own = configuration.runningValues();
  const runningOf = runningIn(service);
  return catalogue.all
    .filter(({ declaration }) => isVisibleTo(audience, declaration.audience))
    .map(({ name, services, declaration }) => {
      const instances = runningOf(name);
      const addresses = [...new Set(services.flatMap((service) => addressesOf(service, name)))];
      const overrides = addresses.flatMap((address) => overrideOf.get(address) ?? []);
      const running = own[name] ?? instances[0];
      const override = overrides.find((each) => each.name === name);
      return {
        ...describe(declaration),
        name,
        services,
        source: running?.source ?? null,
        ...shown(running?.value ?? null),
        instances: instances.map(viewInstance),
        override: override ? viewOverride(service, override) : null,
        overrides: overrides.map((each) => viewOverride(service, each)),
      };
    });
}

/** Builds the GraphQL view of an override. */
export function viewOverride({ catalogue }: ConfigService, override: Override) {
  const { name, value, revision, reason, changedAt, expiresAt } = override;
  return { name, reason, changedAt, expiresAt, revision: String(revision), ...catalogue.shown(name, value) };
}

const shown = (value: unknown) => ({ value: value === masked ? null : value, masked: value === masked });

const viewInstance = ({ service, instance, value, source, pending }: Running) => ({
  service,
  instance,
  source,
  ...shown(value),
  pending: pending ? { ...shown(pending.value), revision: String(pending.revision) } : null,
});

function describe(declaration: PropertyDeclaration) {
  const { type, unit = null, secrecy, audience = "operator", reload, local, guarded, effect } = declaration;
  return {
    type,
    unit,
    secrecy,
    audience,
    reload,
    effect,
    overridable: !local && secrecy !== "secret",
    guarded: guarded === true,
    bounds: {
      // The graph shows the members that its type has.
      ...declaration,
      choices: declaration.overrideChoices ?? declaration.choices,
      nullable: declaration.default === null && declaration.required === undefined,
      allowsEmpty: declaration.allowsEmpty === true,
    },
  };
}

/** Collects the reported, masked values of live instances by property, in the stable order of the instances. */
function runningIn({ reports }: ConfigService) {
  const alive = reports.inOrder();
  return (name: string) =>
    alive.flatMap(({ report: { service, instance, values } }) => {
      const running = values?.[name];
      return running ? [{ service, instance, ...running }] : [];
    });
}

type Running = ReturnType<ReturnType<typeof runningIn>>[number];
