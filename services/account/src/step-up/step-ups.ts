import { type Caller, type Principal, requireState, stepUpMaxAgeMs } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { AuditRefusals } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import type { AccessAnnouncements } from "../access/access-announcements.ts";
import { type Account, stateOf } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import { type Audit, actorOf } from "../audit/audit-log.ts";
import { codeRefusal, type RefusedCode, type SentTo } from "../codes/code-answers.ts";
import type { CodePlace } from "../codes/one-time-code-store.ts";
import type { OneTimeCodes } from "../codes/one-time-codes.ts";
import { envelopeOf, type Mails } from "../mail/mails.ts";
import { type StepUpStore, steppedUp } from "./step-up-store.ts";

interface StepUpDependencies {
  readonly accountStore: Pick<AccountStore, "save">;
  readonly stepUpStore: Omit<StepUpStore, "find">;
  readonly oneTimeCodes: Pick<OneTimeCodes, "issue" | "redeem" | "endAll">;
  readonly mails: Mails;
  readonly access: Pick<AccessAnnouncements, "invalidate">;
  readonly audit: Pick<Audit, "record">;
  readonly auditRefusals: Pick<AuditRefusals, "record">;
  readonly clock: Clock;
}

type RequestOutcome = ({ outcome: "sent" } & SentTo) | { outcome: "no-address" | "too-many" | "not-a-person" };

type CompleteOutcome =
  | { outcome: "completed"; validUntil: Date }
  | { outcome: RefusedCode | "not-a-person" | "too-many-tries" };

export type StepUps = ReturnType<typeof createStepUps>;

/** Step-ups: a person whose sign-in is too old for a change proves their identity again with a mailed code. */
export function createStepUps(dependencies: StepUpDependencies) {
  const { accountStore, stepUpStore, oneTimeCodes, mails, access, audit, auditRefusals, clock } = dependencies;

  return {
    /** Mails a code to the verified address of the caller's locked account. */
    async request(tx: Tx, caller: Caller, account: Account): Promise<RequestOutcome> {
      if (!canStepUp(caller)) return { outcome: "not-a-person" };
      requireState(stateOf(account), "own-account:write");
      const { id: accountId, contactAddress: address, contactAddressVerified } = account;
      if (address === null || !contactAddressVerified) return { outcome: "no-address" };
      const isAllowed = await stepUpStore.takeMail(tx, accountId);
      const issued = isAllowed ? await oneTimeCodes.issue(tx, { ...stepUpPlace(caller), accountId }) : "too-many";
      if (issued === "too-many") return { outcome: "too-many" };
      const { code, expiresAt } = issued;
      await mails.enqueue(tx, { kind: "step-up-code", ...envelopeOf(account, address, expiresAt), code });
      return { outcome: "sent", address, expiresAt };
    },

    /** Redeems the code. From then on the credential counts as freshly signed in, in every service. */
    async complete(tx: Tx, caller: Caller, account: Account, code: string): Promise<CompleteOutcome> {
      if (!canStepUp(caller)) return { outcome: "not-a-person" };
      requireState(stateOf(account), "own-account:write");
      if (!(await stepUpStore.takeTry(account.id))) return { outcome: "too-many-tries" };
      const redeemed = await oneTimeCodes.redeem(tx, { ...stepUpPlace(caller), code });
      if (redeemed !== "good") {
        const refusal = codeRefusal("account.step_up", account.id, redeemed, actorOf(caller));
        auditRefusals.record(refusal);
        return { outcome: redeemed };
      }
      const at = clock.now();
      await stepUpStore.save(tx, { credentialId: steppedUp(caller.credential), accountId: account.id, at });
      await accountStore.save(tx, await access.invalidate(tx, account));
      await audit.record(tx, caller, { action: "account.step_up" });
      return { outcome: "completed", validUntil: new Date(at.getTime() + stepUpMaxAgeMs) };
    },

    /** Ends all step-ups and every code on its way; returns the account for the caller to save. */
    async end(tx: Tx, account: Account): Promise<Account> {
      await stepUpStore.endAll(tx, account.id);
      await oneTimeCodes.endAll(tx, account.id);
      return access.invalidate(tx, account);
    },
  };
}

/** No person stands behind a key or a client to read a mail. */
const canStepUp = ({ credential }: Principal): boolean => credential.kind === "token";

/** A code raises only the credential that requested it, so the owner cannot answer a thief's request. */
const stepUpPlace = ({ accountId, credential }: Principal): CodePlace => ({
  purpose: "step-up",
  subject: `${accountId} ${steppedUp(credential)}`,
});
