import { type Caller, type Principal, requireState, stepUpMaxAgeMs } from "@signalbox/auth";
import type { Tx } from "@signalbox/storage";
import { invalidateAccess } from "../access/access-announcements.ts";
import { type Account, stateOf } from "../accounts/account.ts";
import { actorOf, recordInAudit } from "../audit/audit-log.ts";
import { codeRefusal, type RefusedCode, type SentTo } from "../codes/code-answers.ts";
import type { CodePlace } from "../codes/one-time-code-store.ts";
import { endCodes, issueCode, redeemCode } from "../codes/one-time-codes.ts";
import type { AccountService } from "../context/account-service.ts";
import { envelopeOf } from "../mail/mails.ts";
import { endStepUpsOf, noteStepUp, steppedUp, takeStepUpMail, takeStepUpTry } from "./step-up-store.ts";

type RequestOutcome = ({ outcome: "sent" } & SentTo) | { outcome: "no-address" | "too-many" | "not-a-person" };

type CompleteOutcome =
  | { outcome: "completed"; validUntil: Date }
  | { outcome: RefusedCode | "not-a-person" | "too-many-tries" };

// Step-ups: a person whose sign-in is too old for a change proves their identity again with a mailed code.

/** Mails a code to the verified address of the caller's locked account. */
export async function requestStepUp(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
): Promise<RequestOutcome> {
  if (!canStepUp(caller)) return { outcome: "not-a-person" };
  requireState(stateOf(account), "own-account:write");
  const { id: accountId, contactAddress: address, contactAddressVerified } = account;
  if (address === null || !contactAddressVerified) return { outcome: "no-address" };
  const isAllowed = await takeStepUpMail(service, tx, accountId);
  const issued = isAllowed ? await issueCode(service, tx, { ...stepUpPlace(caller), accountId }) : "too-many";
  if (issued === "too-many") return { outcome: "too-many" };
  const { code, expiresAt } = issued;
  await service.mails.enqueue(tx, { kind: "step-up-code", ...envelopeOf(account, address, expiresAt), code });
  return { outcome: "sent", address, expiresAt };
}

/** Redeems the code. From then on the credential counts as freshly signed in, in every service. */
export async function completeStepUp(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
  code: string,
): Promise<CompleteOutcome> {
  const { auditRefusals, clock, accountStore } = service;
  if (!canStepUp(caller)) return { outcome: "not-a-person" };
  requireState(stateOf(account), "own-account:write");
  if (!(await takeStepUpTry(service, account.id))) return { outcome: "too-many-tries" };
  const redeemed = await redeemCode(service, tx, { ...stepUpPlace(caller), code });
  if (redeemed !== "good") {
    const refusal = codeRefusal("account.step_up", account.id, redeemed, actorOf(caller));
    auditRefusals.record(refusal);
    return { outcome: redeemed };
  }
  const at = clock.now();
  await noteStepUp(tx, { credentialId: steppedUp(caller.credential), accountId: account.id, at });
  await accountStore.save(tx, await invalidateAccess(service, tx, account));
  await recordInAudit(service, tx, caller, { action: "account.step_up" });
  return { outcome: "completed", validUntil: new Date(at.getTime() + stepUpMaxAgeMs) };
}

/** Ends all step-ups and every code on its way; returns the account for the caller to save. */
export async function endAllStepUps(service: AccountService, tx: Tx, account: Account): Promise<Account> {
  await endStepUpsOf(tx, account.id);
  await endCodes(service, tx, account.id);
  return invalidateAccess(service, tx, account);
}

/** No person stands behind a key or a client to read a mail. */
const canStepUp = ({ credential }: Principal): boolean => credential.kind === "token";

/** A code raises only the credential that requested it, so the owner cannot answer a thief's request. */
const stepUpPlace = ({ accountId, credential }: Principal): CodePlace => ({
  purpose: "step-up",
  subject: `${accountId} ${steppedUp(credential)}`,
});
