import { mutation, type SubgraphContext } from "@signalbox/graphql";
import type { ChangeApproval } from "./change-approval.ts";
import type { ChangeResults } from "./change-results.ts";
import * as inputs from "./override-inputs.ts";
import type { Change } from "./override-store.ts";
import type { ChangeSet, Overrides } from "./overrides.ts";
import type { PropertyCatalogue } from "./property-catalogue.ts";
import { viewOverride } from "./property-list.ts";

export interface ChangeResolverDependencies {
  readonly overrides: Overrides;
  readonly approval: ChangeApproval;
  readonly results: ChangeResults;
  readonly catalogue: PropertyCatalogue;
}

/** Requirements for changing properties: an operator with a recent sign-in. */
export const operators = { scopes: ["config:admin"], stepUp: true } as const;
const one = { ...operators, payload: "override" } as const;
const many = { ...operators, payload: (made: object | null) => made ?? { revision: null, results: [] } } as const;

/** The mutations that change properties immediately. */
export function changeResolvers(dependencies: ChangeResolverDependencies) {
  const { overrides, approval } = dependencies;
  return {
    setProperty: mutation(
      { ...one, audit: "property.set", input: inputs.SetProperty },
      ({ name, value, reason, expected_revision: expectedRevision }, context) =>
        changeOne(dependencies, context, inputs.singleChange({ name, set: true, value, expectedRevision }, reason)),
    ),
    unsetProperty: mutation(
      { ...one, audit: "property.unset", input: inputs.UnsetProperty },
      async ({ name, reason, expected_revision: expectedRevision }, context) => {
        const change = { name, set: false, value: null, expectedRevision };
        await changeOne(dependencies, context, inputs.singleChange(change, reason));
        return null;
      },
    ),
    setProperties: mutation(
      { ...many, audit: ["property.set", "property.unset"], input: inputs.SetProperties },
      async (input, context) => {
        const wanted = inputs.changeSetOf(input);
        const refused = [...approval.expiryRefusals(wanted), ...approval.operatorRefusals(wanted)];
        const made = await context.inTransaction(async (tx) => {
          if (!input.dry_run) return overrides.change(tx, context.caller, wanted, refused);
          await overrides.check(tx, wanted, refused);
          return [];
        });
        return answerOf(dependencies.results, wanted.changes, made, input.wait_for_ms);
      },
    ),
    rollback: mutation({ ...many, audit: "property.rollback", input: inputs.Rollback }, async (input, context) => {
      const { to_revision: toRevision, expected_revision: expectedRevision, reason } = input;
      const assertAllowed = (names: readonly string[]) => approval.assertNames(names, "toRevision");
      const wanted = { toRevision, expectedRevision, reason, assertAllowed };
      const made = await context.inTransaction((tx) => overrides.rollback(tx, context.caller, wanted));
      return answerOf(dependencies.results, made, made, input.wait_for_ms);
    }),
  };
}

async function changeOne(
  { overrides, approval, catalogue }: ChangeResolverDependencies,
  context: SubgraphContext<unknown>,
  wanted: ChangeSet,
) {
  // A single property is what the mutation is about: an unknown one is NOT_FOUND.
  for (const { name } of wanted.changes) catalogue.target(name);
  const refused = approval.operatorRefusals(wanted);
  const [made] = await context.inTransaction((tx) => overrides.change(tx, context.caller, wanted, refused));
  if (made === undefined) throw new Error("a change created no revision");
  return viewOverride(made, catalogue);
}

/** Builds the answer: the new revision, null for none, and the result of each property. */
export async function answerOf(
  results: ChangeResults,
  changes: Parameters<ChangeResults["of"]>[0],
  made: readonly Change[],
  waitMs: number,
) {
  const revision = made[0]?.revision ?? null;
  const changeResults = await results.of(changes, revision, waitMs);
  return { revision: revision === null ? null : String(revision), results: changeResults };
}
