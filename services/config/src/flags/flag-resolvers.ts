import { FlagDefinition } from "@signalbox/contracts";
import { field, mutation } from "@signalbox/graphql";
import { z } from "zod";
import { operators } from "../overrides/change-resolvers.ts";
import { dryRun, required, revisionOf } from "../overrides/override-inputs.ts";
import type { Flag, FlagStore } from "./flag-store.ts";
import type { FlagOperations } from "./flags.ts";

export interface FlagResolverDependencies {
  readonly flags: FlagOperations;
  readonly flagStore: FlagStore;
}

/** GraphQL omits absent members or sends them as null; both mean absent. */
const given = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined && member !== null));
};
const { salt, rules, schedule, expires, description, prerequisites, ...members } = FlagDefinition.shape;
const wanted = { expected_revision: revisionOf("expectedRevision"), reason: required };

const SetFlag = z.preprocess(
  given,
  z.strictObject({
    ...members,
    ...{ description, schedule: z.preprocess(given, schedule), expires, salt: salt.optional() },
    rules: z.preprocess((list) => (Array.isArray(list) ? list.map((rule) => withoutNulls(rule)) : list), rules),
    prerequisites: z.preprocess((list) => (Array.isArray(list) ? list.map(given) : list), prerequisites),
    variants: z.preprocess(
      (list) => (Array.isArray(list) ? list.map((each) => ({ ...each })) : list),
      members.variants,
    ),
    ...wanted,
    dry_run: dryRun,
  }),
);
const ArchiveFlag = z.strictObject({ key: members.key, ...wanted });

function withoutNulls(rule: unknown): unknown {
  const kept = given(rule);
  if (typeof kept !== "object" || kept === null || !("age" in kept)) return kept;
  return { ...kept, age: given(kept.age) };
}

/** The GraphQL fields of flags. Rules name accounts, so only operators read them. */
export function flagResolvers({ flags, flagStore }: FlagResolverDependencies) {
  return {
    Query: {
      flags: field({ scopes: ["config:admin"] }, async () => (await flagStore.list()).map(viewFlag)),
    },
    Mutation: {
      setFlag: mutation(
        { ...operators, audit: "flag.set", input: SetFlag as z.ZodType<z.output<typeof SetFlag>>, payload: "flag" },
        async ({ expected_revision: expectedRevision, reason, dry_run, ...flag }, context) => {
          const how = { expectedRevision, reason, dryRun: dry_run };
          const set = await context.inTransaction((tx) => flags.set(tx, context.caller, flag, how));
          return set && viewFlag(set);
        },
      ),
      archiveFlag: mutation(
        { ...operators, audit: "flag.archive", input: ArchiveFlag, payload: "flag" },
        async ({ key, reason, expected_revision: expectedRevision }, context) => {
          await context.inTransaction((tx) => flags.archive(tx, context.caller, key, { expectedRevision, reason }));
          return null;
        },
      ),
    },
  };
}

const viewFlag = ({ definition, revision, reason, actor, changedAt }: Flag) => ({
  ...definition,
  ...{ revision: String(revision), reason, actor, changedAt },
});
