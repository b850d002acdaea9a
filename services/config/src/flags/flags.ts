import type { Caller } from "@signalbox/auth";
import { draft, type EventDraft, FlagDefinition } from "@signalbox/contracts";
import { AppError, type ErrorDetail, randomId } from "@signalbox/core";
import { connectionField, field, mutation, type Resolvers } from "@signalbox/http";
import { audited, flagProblems } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import type { ConfigService } from "../context/config-service.ts";
import { flagResultOf, succeeded } from "../overrides/change-results.ts";
import { lockRevisions, nextRevision } from "../overrides/override-store.ts";
import { dryRun, operators, requiredReason, revisionOf, waitForMs } from "../overrides/property-fields.ts";
import { subjectOf } from "./flag-statistics.ts";
import { type Flag, type FlagChange, listFlagHistory, listFlags, saveFlag } from "./flag-store.ts";

/** A flag as its author writes it; without a salt the previous one is kept. */
type FlagDraft = Omit<FlagDefinition, "salt"> & { readonly salt?: string | undefined };

interface Wanted {
  /** The revision of the flag that the caller has seen; 0 for a new flag. */
  readonly expectedRevision: bigint;
  readonly reason: string;
}

/** Every service evaluates all of them for every caller. */
const flagsMax = 1_000;

/** Replaces a flag; with `dryRun` only validates it. @throws AppError `validation_error` with every fault */
async function setFlag(
  service: ConfigService,
  tx: Tx,
  caller: Caller,
  flag: FlagDraft,
  { expectedRevision, reason, dryRun }: Wanted & { readonly dryRun: boolean },
) {
  const { known, all, revision } = await lockFlags(tx, flag.key);
  if (revision !== expectedRevision) return { outcome: "flag-changed", key: flag.key, revision } as const;
  if (!known && all.length >= flagsMax) return { outcome: "too-many-flags", max: flagsMax } as const;
  const definition = FlagDefinition.parse({ ...flag, salt: flag.salt ?? known?.definition.salt ?? randomId("salt") });
  const others = all.map((each) => each.definition);
  const own = [...flagProblems(definition, others), ...typeProblem(definition, known)];
  refuse([...own, ...neededVariants(definition, others)]);
  if (dryRun) return null;
  return { ...(await changeFlag(service, tx, caller, flag.key, definition, reason)), definition };
}

/** Archives a flag: code that still reads it gets the default. @throws AppError `validation_error` while others need it */
async function archiveFlag(
  service: ConfigService,
  tx: Tx,
  caller: Caller,
  key: string,
  { expectedRevision, reason }: Wanted,
) {
  const { known, all, revision } = await lockFlags(tx, key);
  if (revision !== expectedRevision) return { outcome: "flag-changed", key, revision } as const;
  if (!known) return { outcome: "no-such-flag", key } as const;
  const needing = all.filter(({ definition }) => definition.prerequisites.some(({ flag }) => flag === key));
  refuse(needing.map((flag) => ({ field: "key", message: `${flag.key} depends on ${key}.` })));
  return changeFlag(service, tx, caller, key, null, reason);
}

/** Assigns the next revision to a flag's change: rows, event and audit entry in one transaction. */
async function changeFlag(
  { outbox, clock }: ConfigService,
  tx: Tx,
  caller: Caller,
  key: string,
  definition: FlagDefinition | null,
  reason: string,
): Promise<FlagChange> {
  const { accountId: actor, credential, requestId } = caller;
  const revision = await nextRevision(tx);
  const by = { actor, credential: credential.id, requestId: requestId || null };
  const made = { key, definition, revision, reason, changedAt: clock.now(), ...by };
  await saveFlag(tx, made);
  const action = definition === null ? "flag.archive" : "flag.set";
  const fields = definition === null ? [] : ["definition", `revision ${revision}`];
  await outbox.append(tx, [flagChanged(made), audited(caller, { action, subject: key, fields, reason })]);
  return made;
}

/** Finds the flag with its revision, 0 for none, and blocks every other change: flags and properties share revisions. */
async function lockFlags(tx: Tx, key: string) {
  await lockRevisions(tx);
  const all = await listFlags(tx);
  const known = all.find((flag) => flag.key === key);
  return { known, all, revision: known?.revision ?? 0n };
}

/** Refuses a change of the type: released client code reads the flag as the old one. */
function typeProblem({ type }: FlagDefinition, known: Flag | undefined) {
  if (!known || known.definition.type === type) return [];
  return [{ field: "type", message: `The flag is of type ${known.definition.type}; a type cannot change.` }];
}

/** Refuses to remove a variant that another flag requires. */
function neededVariants({ key, variants }: FlagDefinition, others: readonly FlagDefinition[]) {
  const names = variants.map(({ name }) => name);
  return others.flatMap((other) =>
    other.prerequisites
      .filter(({ flag, variants: wanted }) => flag === key && wanted.some((name) => !names.includes(name)))
      .map(() => ({ field: "variants", message: `${other.key} requires a variant that would be removed.` })),
  );
}

function refuse(problems: readonly Omit<ErrorDetail, "code">[]): void {
  const details = problems.map((problem) => ({ ...problem, code: "invalid_value" as const }));
  if (details.length > 0) throw new AppError("validation_error", "The flag is not valid.", { details });
}

/** Creates the event of a change. */
export function flagChanged({ key: flag, definition, revision, actor, reason, changedAt }: FlagChange): EventDraft {
  const data = { flag, definition, revision: Number(revision), actor, reason, changed_at: changedAt.toISOString() };
  return draft("flag.changed", { subject: `flag:${flag}`, accountId: null, data });
}

/** GraphQL omits absent members or sends them as null; both mean absent, but in the values of variants. */
const given = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(given);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, name === "value" ? member : given(member)]));
};
const { salt, rules, schedule, expires, description, prerequisites, ...members } = FlagDefinition.shape;
const wanted = {
  expected_revision: revisionOf("expectedRevision").describe(
    'The revision of this flag that the caller has seen; "0" if the flag does not exist.',
  ),
  reason: requiredReason,
  wait_for_ms: waitForMs,
};

const SetFlag = z.preprocess(
  given,
  z.strictObject({
    ...members,
    description,
    schedule,
    expires,
    salt: salt.optional().describe("If absent, an existing flag keeps its salt and a new flag gets a random one."),
    rules,
    prerequisites,
    ...wanted,
    dry_run: dryRun,
  }),
);
const ArchiveFlag = z.strictObject({ key: members.key, ...wanted });

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
function viewPastFlag({ definition, ...change }: FlagChange) {
  const flag = definition === null ? null : viewFlag({ ...change, definition });
  return { ...change, revision: String(change.revision), flag };
}

const viewFlag = ({ definition, ...change }: Flag) => ({
  ...change,
  ...definition,
  id: subjectOf(change.key),
  revision: String(change.revision),
});
