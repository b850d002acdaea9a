import { audienceOf, timeInput } from "@signalbox/contracts";
import { maskText } from "@signalbox/core";
import { connectionField, field, mutation, type Resolvers, type SubgraphContext } from "@signalbox/http";
import { z } from "zod";
import type { ConfigService } from "../context/config-service.ts";
import { resultsOf, succeeded } from "./change-results.ts";
import { type Change, listHistory, type PastChange } from "./override-store.ts";
import { changeOverrides, type Judging } from "./overrides.ts";
import { type ChangeSet, expiryRefusals, operatorRefusals, type PlannedChange } from "./plan-changes.ts";
import { listProperties, viewOverride } from "./property-list.ts";
import { rollBack } from "./undo-changes.ts";

const reasonLengthMax = 1_000;
const changesMax = 100;
const waitMsMax = 10_000;

const name = z.string().max(200);
export const revisionOf = (member: string) =>
  z
    .string()
    .regex(/^\d{1,18}$/, `${member} must be a revision number, digits only.`)
    .transform(BigInt);
export const sentence = z
  .string()
  .max(reasonLengthMax, `reason must be plain text of at most ${reasonLengthMax} characters.`)
  .refine((text) => maskText(text) === text, "reason must not contain credentials.");
export const requiredReason = sentence.regex(/\S/u, "reason must not be empty.");
/** Null is a value; an absent member is not. */
const value = z
  .unknown()
  .refine((given) => given !== undefined, "value is required; null counts as a value.")
  .describe("The value; null if the property is nullable.");
const expectedRevision = revisionOf("expectedRevision").describe(
  'The revision of this property\'s override that the caller has seen; "0" if there is none.',
);
export const waitForMs = z
  .int()
  .min(0)
  .max(waitMsMax)
  .nullish()
  .transform(noneAs(0))
  .describe("Milliseconds to wait until the instances have applied it, at most 10000.");
export const dryRun = z.boolean().nullish().transform(noneAs(false)).describe("Validates without changing anything.");

const one = { name, expected_revision: expectedRevision, reason: sentence.nullable().default(null) };
const SetProperty = z.strictObject({ ...one, value });
const UnsetProperty = z.strictObject(one);

/** The items of a list keep their GraphQL names. */
const ChangeItem = z
  .object({
    name,
    value: z.unknown().optional().describe("The value; null if the property is nullable. Leave it out with `unset`."),
    unset: z.boolean().nullish().describe("Removes the override."),
    expectedRevision,
  })
  .refine(({ value: given, unset }) => (given !== undefined) !== (unset === true), {
    error: "A change needs a value, which may be null, or unset: true.",
    path: ["value"],
  });

const severalChanges = {
  changes: z.array(ChangeItem).min(1).max(changesMax),
  reason: requiredReason,
  expires_at: timeInput.nullish().transform(noneAs(null)).describe("Time at which the changes expire."),
};
type SeveralChanges = z.output<z.ZodObject<typeof severalChanges>>;
export const ProposeChange = z.strictObject({ ...severalChanges, dry_run: dryRun });
const SetProperties = z.strictObject({ ...severalChanges, dry_run: dryRun, wait_for_ms: waitForMs });
const Rollback = z.strictObject({
  to_revision: revisionOf("toRevision"),
  expected_revision: revisionOf("expectedRevision").describe(
    "The newest revision that the caller has seen, in the status or in any response.",
  ),
  reason: requiredReason,
  wait_for_ms: waitForMs,
});

function noneAs<const None>(none: None) {
  return <Given>(given: Given | null | undefined): Given | None => given ?? none;
}

/** Requirements for changing properties: an operator with a recent sign-in. */
export const operators = { scopes: ["config:admin"], stepUp: true } as const;

/** The properties with their history, and the mutations that change them immediately. The graph alone has these. */
export function propertyFields(service: ConfigService): Resolvers {
  const { pool, catalogue, pageLimits } = service;
  return {
    Query: {
      properties: field({ scopes: ["config:read"] }, (_parent, _args, { caller }) =>
        listProperties(service, audienceOf(caller.scopes)),
      ),
      propertyHistory: connectionField(
        { scopes: ["config:admin"] },
        {
          limits: pageLimits,
          read: (range, _parent, _context, { name: property }: { readonly name: string }) => {
            catalogue.target(property);
            return listHistory(pool, property, range);
          },
          position: ({ changedAt: at, revision }) => ({ at, id: String(revision) }),
          node: (change: PastChange) => viewPastChange(service, change),
        },
      ),
    },
    Mutation: { ...singleMutations(service), ...setMutations(service) },
  };
}

function singleMutations(service: ConfigService) {
  const shown = { ...operators, payload: "override" } as const;
  return {
    setProperty: mutation(
      { ...shown, audit: "property.set", input: SetProperty },
      ({ name, value, reason, expected_revision: expectedRevision }, context) =>
        changeOne(service, context, { name, set: true, value, expectedRevision }, reason),
    ),
    unsetProperty: mutation(
      { ...shown, audit: "property.unset", input: UnsetProperty },
      async ({ name, reason, expected_revision: expectedRevision }, context) => {
        await changeOne(service, context, { name, set: false, value: null, expectedRevision }, reason);
        return null;
      },
    ),
  };
}

function setMutations(service: ConfigService) {
  const shown = { ...operators, payload: (made: object | null) => made ?? { revision: null, results: [] } } as const;
  return {
    setProperties: mutation(
      { ...shown, audit: ["property.set", "property.unset"], input: SetProperties },
      async (input, context) => {
        const wanted = changeSetOf(input);
        const refused = [...expiryRefusals(service, wanted), ...operatorRefusals(service, wanted)];
        const made = await change(service, context, wanted, { refused, dryRun: input.dry_run });
        return answerOf(service, wanted.changes, made, input.wait_for_ms);
      },
    ),
    rollback: mutation({ ...shown, audit: "property.rollback", input: Rollback }, async (input, context) => {
      const { to_revision: toRevision, expected_revision: expectedRevision, reason } = input;
      const wanted = { toRevision, expectedRevision, reason };
      const made = await context.inTransaction((tx) => succeeded(rollBack(service, tx, context.caller, wanted)));
      return answerOf(service, made, made, input.wait_for_ms);
    }),
  };
}

const change = (service: ConfigService, context: SubgraphContext, wanted: ChangeSet, how: Judging) =>
  context.inTransaction((tx) => succeeded(changeOverrides(service, tx, context.caller, wanted, how)));

async function changeOne(
  service: ConfigService,
  context: SubgraphContext,
  one: ChangeSet["changes"][number],
  reason: string | null,
) {
  // A single property is what the mutation is about: an unknown one is NOT_FOUND.
  service.catalogue.target(one.name);
  const wanted: ChangeSet = { changes: [one], reason, expiresAt: null, fieldOf: (_index, member) => member };
  const [made] = await change(service, context, wanted, { refused: operatorRefusals(service, wanted), dryRun: false });
  if (made === undefined) throw new Error("a change created no revision");
  return viewOverride(service, made);
}

/** Builds the answer: the new revision, null for none, and the result of each property. */
export async function answerOf(
  service: ConfigService,
  changes: readonly PlannedChange[],
  made: readonly Change[],
  waitMs: number,
) {
  const revision = made[0]?.revision ?? null;
  const results = await resultsOf(service, changes, revision, waitMs);
  return { revision: revision === null ? null : String(revision), results };
}

/** Builds the change set of an input for the operations. */
export function changeSetOf({ changes, reason, expires_at }: SeveralChanges): ChangeSet {
  return {
    changes: changes.map((each) => ({ ...each, set: each.unset !== true, value: each.value ?? null })),
    reason,
    expiresAt: expires_at === null ? null : new Date(expires_at),
    fieldOf: (index, member) => `changes[${index}].${member}`,
  };
}

function viewPastChange({ catalogue }: ConfigService, { name, before, value, ...change }: PastChange) {
  return {
    ...change,
    revision: String(change.revision),
    before: { set: change.wasSet, ...catalogue.shown(name, before, change.wasSet) },
    after: { set: change.set, ...catalogue.shown(name, value, change.set) },
  };
}
