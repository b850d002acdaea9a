import { field, mutation, type Resolvers } from "@signalbox/graphql";
import { z } from "zod";
import type { OverrideStore } from "./overrides/override-store.ts";
import type { Overrides } from "./overrides/overrides.ts";
import { listProperties, type PropertyListDependencies, viewOverride } from "./overrides/property-list.ts";
import { audienceOf, type SettingsDependencies, viewSettings } from "./settings.ts";

interface Dependencies extends SettingsDependencies, PropertyListDependencies {
  readonly overrides: Overrides;
  readonly overrideStore: OverrideStore;
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
/** Null is a value; a member that is not there is none. */
const givenValue = z.unknown().refine((value) => value !== undefined, "value must be given; null is a value.");
const SetProperty = z.strictObject({ ...wanted, value: givenValue });
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
