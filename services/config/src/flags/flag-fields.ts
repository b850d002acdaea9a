import { FlagDefinition } from "@signalbox/contracts";
import { connectionField, field, mutation, type Resolvers } from "@signalbox/graphql";
import { z } from "zod";
import type { ConfigService } from "../context/config-service.ts";
import { flagResultOf, succeeded } from "../overrides/change-results.ts";
import { dryRun, operators, requiredReason, revisionOf, waitForMs } from "../overrides/property-fields.ts";
import { type Flag, type FlagChange, listFlagHistory, listFlags } from "./flag-store.ts";
import { archiveFlag, setFlag } from "./flags.ts";

/** GraphQL omits absent members or sends them as null; both mean absent. */
const given = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined && member !== null));
};
const { salt, rules, schedule, expires, description, prerequisites, ...members } = FlagDefinition.shape;
const wanted = { expected_revision: revisionOf("expectedRevision"), reason: requiredReason, wait_for_ms: waitForMs };

const SetFlag = z.preprocess(
  given,
  z.strictObject({
    ...members,
    description,
    schedule: z.preprocess(given, schedule),
    expires,
    salt: salt.optional(),
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
export function flagFields(service: ConfigService): Resolvers {
  const { pool, pageLimits } = service;
  const unchanged = { flag: null, revision: null, instances: 0, applied: 0 };
  const changed = { ...operators, payload: (made: object | null) => made ?? unchanged } as const;
  const answerOf = async (flag: object | null, revision: bigint | null, waitMs: number) => ({
    flag,
    revision: revision === null ? null : String(revision),
    ...(await flagResultOf(service, revision, waitMs)),
  });
  return {
    Query: {
      flags: field({ scopes: ["config:admin"] }, async () => (await listFlags(pool)).map(viewFlag)),
      flagHistory: connectionField(
        { scopes: ["config:admin"] },
        {
          limits: pageLimits,
          read: (range, _parent, _context, { key }: { readonly key: string }) => listFlagHistory(pool, key, range),
          position: ({ changedAt: at, revision }) => ({ at, id: String(revision) }),
          node: viewPastFlag,
        },
      ),
    },
    Mutation: {
      setFlag: mutation(
        { ...changed, audit: "flag.set", input: SetFlag as z.ZodType<z.output<typeof SetFlag>> },
        async ({ expected_revision: expectedRevision, reason, dry_run, wait_for_ms: waitMs, ...flag }, context) => {
          const how = { expectedRevision, reason, dryRun: dry_run };
          const set = await context.inTransaction((tx) => succeeded(setFlag(service, tx, context.caller, flag, how)));
          return answerOf(set && viewFlag(set), set?.revision ?? null, waitMs);
        },
      ),
      archiveFlag: mutation(
        { ...changed, audit: "flag.archive", input: ArchiveFlag },
        async ({ key, reason, expected_revision: expectedRevision, wait_for_ms: waitMs }, context) => {
          const how = { expectedRevision, reason };
          const { revision } = await context.inTransaction((tx) =>
            succeeded(archiveFlag(service, tx, context.caller, key, how)),
          );
          return answerOf(null, revision, waitMs);
        },
      ),
    },
  };
}

/** Shows the flag as a change left it; null where it was archived. */
function viewPastFlag(change: FlagChange) {
  const { definition, actor, credential, reason, requestId, changedAt } = change;
  const flag = definition === null ? null : viewFlag({ ...change, definition });
  return { revision: String(change.revision), flag, actor, credential, reason, requestId, changedAt };
}

const viewFlag = ({ definition, revision, reason, actor, changedAt }: Flag) => ({
  ...definition,
  revision: String(revision),
  reason,
  actor,
  changedAt,
});
