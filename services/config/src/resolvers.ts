import type { PropertyDeclaration } from "@signalbox/config";
import { field, mutation, type Resolvers } from "@signalbox/graphql";
import { z } from "zod";
import type { Override, OverrideStore } from "./overrides/override-store.ts";
import type { Overrides } from "./overrides/overrides.ts";
import type { PropertyCatalogue } from "./overrides/property-catalogue.ts";
import { properties } from "./properties.ts";
import { type Audience, audienceOf, isFor, type SettingsDependencies, viewSettings } from "./settings.ts";

interface Dependencies extends SettingsDependencies {
  readonly overrides: Overrides;
  readonly overrideStore: OverrideStore;
  readonly catalogue: PropertyCatalogue;
}

const reasonLengthMax = 1_000;
const wanted = {
  name: z.string(),
  expected_revision: z
    .string()
    .regex(/^\d{1,18}$/, "expectedRevision must be a revision, as digits.")
    .transform(BigInt),
  reason: z
    .string()
    .max(reasonLengthMax, `reason must be plain text of at most ${reasonLengthMax} characters.`)
    .nullable()
    .default(null),
};
const SetProperty = z.strictObject({ ...wanted, value: z.unknown() });
const UnsetProperty = z.strictObject(wanted);

/** The fields of configuration, and who may use them. */
export function resolversOf(dependencies: Dependencies): Resolvers<unknown> {
  const { overrides, overrideStore, catalogue } = dependencies;
  const change = { scopes: ["config:admin"], stepUp: true, payload: "override" } as const;
  return {
    Query: {
      serverSettings: field(
        { scopes: [], optional: true },
        (_parent, _args, { principal }) => viewSettings(dependencies, principal).resource,
      ),
      properties: field({ scopes: ["config:read"] }, async (_parent, _args, { caller }) =>
        listProperties(dependencies, await overrideStore.list(), audienceOf(caller)),
      ),
    },
    Mutation: {
      setProperty: mutation({ ...change, audit: "property.set", input: SetProperty }, (input, context) => {
        const { value, expected_revision: expectedRevision, ...of } = input;
        return context.inTransaction(async (tx) => {
          const override = await overrides.set(tx, context.caller, { ...of, expectedRevision }, value);
          return viewOverride(override, catalogue);
        });
      }),
      unsetProperty: mutation({ ...change, audit: "property.unset", input: UnsetProperty }, (input, context) => {
        const { expected_revision: expectedRevision, ...of } = input;
        return context.inTransaction(async (tx) => {
          await overrides.unset(tx, context.caller, { ...of, expectedRevision });
          return null;
        });
      }),
    },
  };
}

/** Every property of this service that the audience sees, with its running value and the override in force. */
function listProperties({ configuration, catalogue }: Dependencies, inForce: readonly Override[], audience: Audience) {
  const overrideOf = new Map(inForce.map((override) => [override.name, override]));
  return Object.entries<PropertyDeclaration>(properties).flatMap(([name, declaration]) => {
    const found = isFor(audience, declaration.audience) ? configuration.find(name) : null;
    if (found === null) return [];
    const { value, source } = found.property;
    const masked = value === "******";
    const override = overrideOf.get(name);
    return [
      {
        ...{ name, value: masked ? null : value, masked, source },
        override: override ? viewOverride(override, catalogue) : null,
      },
    ];
  });
}

function viewOverride({ name, value, revision, reason, changedAt }: Override, catalogue: PropertyCatalogue) {
  const shown = catalogue.isMasked(name, value) ? null : value;
  return { value: shown, revision: String(revision), reason, changedAt };
}
