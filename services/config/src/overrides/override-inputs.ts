import { maskText } from "@signalbox/core";
import { z } from "zod";
import type { ChangeSet } from "./overrides.ts";

const reasonLengthMax = 1_000;
const changesMax = 100;
const waitMsMax = 10_000;

const name = z.string().max(200);
export const revisionOf = (member: string) =>
  z
    .string()
    .regex(/^\d{1,18}$/, `${member} must be a revision in digits.`)
    .transform(BigInt);
const sentence = z
  .string()
  .max(reasonLengthMax, `reason must be plain text of at most ${reasonLengthMax} characters.`)
  .refine((text) => maskText(text) === text, "reason must not contain credentials.");
export const required = sentence.regex(/\S/u, "reason must not be empty.");
/** Null is a value; an absent member is not. */
const value = z.unknown().refine((given) => given !== undefined, "value must be given; null is a value.");
export const waitForMs = z.int().min(0).max(waitMsMax).nullish().transform(noneAs(0));
export const dryRun = z.boolean().nullish().transform(noneAs(false));

const one = { name, expected_revision: revisionOf("expectedRevision"), reason: sentence.nullable().default(null) };
export const SetProperty = z.strictObject({ ...one, value });
export const UnsetProperty = z.strictObject(one);

/** The items of a list keep their GraphQL names. */
const Change = z
  .object({
    name,
    value: z.unknown().optional(),
    unset: z.boolean().nullish(),
    expectedRevision: revisionOf("expectedRevision"),
  })
  .refine(({ value: given, unset }) => (given !== undefined) !== (unset === true), {
    error: "A change has a value, which may be null, or unset is true.",
    path: ["value"],
  });

const many = {
  changes: z.array(Change).min(1).max(changesMax),
  reason: required,
  expires_at: z.iso.datetime({ offset: true }).nullish().transform(noneAs(null)),
};
export const SetProperties = z.strictObject({ ...many, dry_run: dryRun, wait_for_ms: waitForMs });
export const ProposeChange = z.strictObject(many);
export const ApproveChange = z.strictObject({ id: z.string().max(100), wait_for_ms: waitForMs });
export const WithdrawChange = z.strictObject({ id: z.string().max(100) });
export const Rollback = z.strictObject({
  to_revision: revisionOf("toRevision"),
  expected_revision: revisionOf("expectedRevision"),
  reason: required,
  wait_for_ms: waitForMs,
});

/** Builds the change set of an input for the operations. */
export function changeSetOf({ changes, reason, expires_at }: z.output<typeof ProposeChange>): ChangeSet {
  return {
    changes: changes.map((each) => ({ ...each, set: each.unset !== true, value: each.value ?? null })),
    reason,
    expiresAt: expires_at === null ? null : new Date(expires_at),
    fieldOf: (index, member) => `changes[${index}].${member}`,
  };
}

/** Builds the change set of one change whose members are in the input itself. */
export function singleChange(change: ChangeSet["changes"][number], reason: string | null): ChangeSet {
  return { changes: [change], reason, expiresAt: null, fieldOf: (_index, member) => member };
}

function noneAs<const None>(none: None) {
  return <Given>(given: Given | null | undefined): Given | None => given ?? none;
}
