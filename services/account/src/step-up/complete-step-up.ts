import { type Principal, requireState, stepUpMaxAgeMs } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { AskAgain } from "../access/ask-again.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Actor, Audit } from "../audit/audit.ts";
import type { NoteRefusal } from "../audit/note-refusal.ts";
import { codeRefusal } from "../codes/code-refused.ts";
import type { OneTimeCodes, RedeemOutcome } from "../codes/one-time-codes.ts";
import { canStepUp, stepUpPlace } from "./step-up-of.ts";
import type { StepUpStore } from "./step-up-store.ts";

export interface CompleteStepUp {
  readonly principal: Principal;
  readonly code: string;
  readonly by: Actor;
  /** Runs in the transaction of the step-up. */
  readonly alongside?: (tx: Tx, validUntil: Date) => Promise<void>;
}

export type CompleteStepUpOutcome =
  | { outcome: "done"; validUntil: Date }
  | { outcome: Exclude<RedeemOutcome, "good"> }
  | { outcome: "not-a-person" }
  | { outcome: "not-found" };

interface Dependencies {
  readonly pool: Pool;
  readonly accounts: Pick<AccountStore, "lock" | "save">;
  readonly oneTimeCodes: Pick<OneTimeCodes, "redeem">;
  readonly stepUps: Pick<StepUpStore, "save">;
  readonly askAgain: AskAgain;
  readonly noteRefusal: NoteRefusal;
  readonly audit: Audit;
  readonly clock: Clock;
}

/** Takes the code. From now on the credential counts as freshly signed in, in every service. */
export function createCompleteStepUp(dependencies: Dependencies) {
  const { pool, accounts, oneTimeCodes, stepUps, askAgain, noteRefusal, audit, clock } = dependencies;

  return async function completeStepUp(input: CompleteStepUp): Promise<CompleteStepUpOutcome> {
    const { principal, code, by } = input;
    if (!canStepUp(principal)) return { outcome: "not-a-person" };
    return inTransaction(pool, async (tx): Promise<CompleteStepUpOutcome> => {
      const account = await accounts.lock(tx, principal.accountId);
      if (!account) return { outcome: "not-found" };
      requireState({ state: account.status }, "own-account:write");
      const redeemed = await oneTimeCodes.redeem(tx, { ...stepUpPlace(principal), code });
      if (redeemed !== "good") {
        const refusal = codeRefusal("account.step_up", account.id, redeemed, by);
        tx.afterCommit(() => noteRefusal(refusal));
        return { outcome: redeemed };
      }
      const at = clock.now();
      await stepUps.save(tx, { credentialId: principal.credential.id, accountId: account.id, at });
      await accounts.save(tx, await askAgain(tx, account));
      await audit.record(tx, { action: "account.step_up", accountId: account.id, fields: [], by });
      const validUntil = new Date(at.getTime() + stepUpMaxAgeMs);
      await input.alongside?.(tx, validUntil);
      return { outcome: "done", validUntil };
    });
  };
}

export type CompleteStepUpVerb = ReturnType<typeof createCompleteStepUp>;
