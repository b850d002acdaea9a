import { type Caller, requireStepUp } from "@signalbox/auth";
import { accountStates, examples } from "@signalbox/contracts";
import type { Refusal } from "@signalbox/http";
import { conflict } from "@signalbox/service";
import { advisoryLock, sql, type Tx } from "@signalbox/storage";
import { z } from "zod";
import type { Account } from "../accounts/account.ts";
import type { FieldRule } from "../accounts/account-fields.ts";
import { actorOf, recordInAudit } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { ruledText } from "../profile/account-body.ts";
import { moveStatus, type NoTransition, type WantedStatus } from "./change-status.ts";

type RefusedStatus = NoTransition | { outcome: "last-administrator" };

type StatusOutcome = { outcome: "changed"; account: Account } | RefusedStatus;

// The changes of status that owners and administrators make. Callers pass locked accounts.

/** Makes a change that the owner requests. */
export async function changeStatusByOwner(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
  wanted: WantedStatus,
): Promise<StatusOutcome> {
  if (await isLastAdministrator(service, tx, caller, account)) return { outcome: "last-administrator" };
  return moveStatus(service, tx, actorOf(caller), account, wanted);
}

/** Makes a change that an administrator requests. A deletion needs their recent sign-in. */
export async function changeStatusByAdministrator(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
  wanted: WantedStatus,
): Promise<StatusOutcome> {
  if (wanted.to === "deleted") requireStepUp(caller, service.clock);
  const ceases = wanted.to !== "active" && (await isLastAdministrator(service, tx, caller, account));
  if (ceases) return { outcome: "last-administrator" };
  return moveStatus(service, tx, actorOf(caller, "administrator"), account, wanted);
}

/**
 * Records the owner's request for recovery, visible to administrators, and returns its time. Refused unless the
 * account is disabled.
 */
export async function requestRecovery(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
): Promise<{ outcome: "requested"; at: Date } | { outcome: "not-disabled" }> {
  if (account.status !== "disabled") return { outcome: "not-disabled" };
  if (account.recoveryRequestedAt !== null) return { outcome: "requested", at: account.recoveryRequestedAt };
  const recoveryRequestedAt = service.clock.now();
  await service.accountStore.save(tx, { ...account, recoveryRequestedAt });
  await recordInAudit(service, tx, caller, { action: "account.request_recovery" });
  return { outcome: "requested", at: recoveryRequestedAt };
}

const findAnother = sql(
  "administrators.find-another",
  `select 1 from accounts where status = 'active' and 'admin' = any (roles)
     and (scopes_max = '{}' or 'account:admin' = any (scopes_max)) and id <> $1 limit 1`,
);

/**
 * Returns true when this locked account is the only administrator, whom no other account could restore. No other
 * administrator can step down before the transaction ends.
 */
export async function isLastAdministrator(
  { hasIssuer }: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
): Promise<boolean> {
  if (account.status !== "active" || !account.roles.includes("admin")) return false;
  if (!hasIssuer && isAnotherByIssuer(caller, account)) return false;
  // Two administrators who revoke each other's role would otherwise each still see the other.
  await advisoryLock(tx, "the last administrator");
  return (await tx.query(findAnother, [account.id])).rowCount === 0;
}

/** Administrators of another issuer are known only while they act. */
function isAnotherByIssuer({ accountId, credential, roles }: Caller, account: Account): boolean {
  return credential.kind === "token" && roles.includes("admin") && accountId !== account.id;
}

const reasonLengthMax = 500;

/** A reason is prose: several lines are fine, an empty text is not. */
const checkReason: FieldRule = (reason) => {
  const length = [...reason].length;
  return reason.trim() !== "" && length <= reasonLengthMax
    ? null
    : `The reason must have 1–${reasonLengthMax} characters.`;
};

/** A stated reason, in the words of the person who acts. */
export const reason = ruledText(checkReason).meta({ minLength: 1, maxLength: reasonLengthMax });

/** The body of an administrator's change. No account returns to `pending`. */
export const StatusByAdministrator = z
  .strictObject({
    status: z.enum(accountStates).exclude(["pending"]).describe("The new state."),
    reason: reason.describe("The reason, which the owner sees in the account, in refusals and in the audit log."),
  })
  .register(examples, { example: { status: "suspended", reason: "Payment failed three times." } });

/** The body of an owner's change. An owner deletes the account with DELETE. */
export const StatusByOwner = z
  .strictObject({
    status: z.literal("disabled").describe("The new state; an administrator ends it."),
    reason: reason
      .nullable()
      .default(null)
      .describe("The reason, shown with the account, in refusals and in the audit log."),
  })
  .register(examples, { example: { status: "disabled", reason: "I moved to another product." } });

/** Maps a refused change of status to its answer. */
export function refusedTransition(result: RefusedStatus): Refusal {
  if (result.outcome === "last-administrator") return refusedLastAdministrator("status");
  const { from, to } = result;
  const message = `An account that is ${from} cannot become ${to}.`;
  return conflict("status", "transition_not_allowed", message);
}

/** The refusal of a change that would remove the only administrator. */
export function refusedLastAdministrator(field: "status" | "roles"): Refusal {
  const message = "This is the only administrator. Make another account an administrator first.";
  return conflict(field, "last_administrator", message);
}
