import type { Configuration, PropertyDeclaration } from "@signalbox/config";
import { type Audience, isVisibleTo } from "@signalbox/contracts";
import { masked } from "@signalbox/core";
import type { Properties } from "../properties.ts";
import type { AppliedReports } from "../published/applied-reports.ts";
import type { Override } from "./override-store.ts";
import { addressesOf, type PropertyCatalogue } from "./property-catalogue.ts";

export interface PropertyListDependencies {
  readonly configuration: Configuration<Properties>;
  readonly reports: AppliedReports;
  readonly catalogue: PropertyCatalogue;
}

/** The value reported by an instance, already masked. */
interface Running {
  readonly service: string;
  readonly instance: string;
  readonly value: unknown;
  readonly source: string;
  readonly pending?: { readonly value: unknown; readonly revision: number } | undefined;
}

/**
 * Lists every property that the audience may see, of every service, with each instance's value and the active
 * overrides.
 */
export function listProperties(
  { configuration, reports, catalogue }: PropertyListDependencies,
  inForce: readonly Override[],
  audience: Audience,
) {
  const overrideOf = new Map(inForce.map((override) => [override.name, override]));
  const own = configuration.runningValues();
  const runningOf = runningIn(reports);
  return catalogue
    .all()
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
        override: override ? viewOverride(override, catalogue) : null,
        overrides: overrides.map((each) => viewOverride(each, catalogue)),
      };
    });
}

/** Builds the GraphQL view of an override. */
export function viewOverride(override: Override, catalogue: PropertyCatalogue) {
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

/** Collects the reported values of live instances by property, ordered by instance name to keep the order stable. */
function runningIn(reports: AppliedReports): (name: string) => Running[] {
  const alive = reports
    .alive()
    .map(({ report }) => report)
    .sort((a, b) => `${a.service}/${a.instance}`.localeCompare(`${b.service}/${b.instance}`));
  return (name) =>
    alive.flatMap(({ service, instance, values }) => {
      const running = values?.[name];
      return running ? [{ service, instance, ...running }] : [];
    });
}
