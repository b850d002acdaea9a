import { type Principal, requireState } from "@signalbox/auth";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Actor } from "../audit/audit.ts";
import type { NoteRefusal } from "../audit/note-refusal.ts";
import { codeRefusal } from "../codes/code-refused.ts";
import type { OneTimeCodes, RedeemOutcome } from "../codes/one-time-codes.ts";
import type { AdoptContact } from "./adopt-contact.ts";

export interface ConfirmContact {
  readonly principal: Principal;
  readonly code: string;
  readonly by: Actor;
  /** Runs in the transaction of the change. */
  readonly alongside?: (tx: Tx, account: Account) => Promise<void>;
}

export type ConfirmContactOutcome =
  | { outcome: "confirmed"; account: Account }
  | { outcome: Exclude<RedeemOutcome, "good"> }
  | { outcome: "nothing-waiting" }
  | { outcome: "not-found" };

interface Dependencies {
  readonly pool: Pool;
  readonly accounts: Pick<AccountStore, "lock">;
  readonly oneTimeCodes: Pick<OneTimeCodes, "redeem">;
  readonly adoptContact: AdoptContact;
  readonly noteRefusal: NoteRefusal;
}

/** Confirms the waiting address by the code that was sent there. The code is the proof: a recent sign-in is not needed. */
export function createConfirmContact({ pool, accounts, oneTimeCodes, adoptContact, noteRefusal }: Dependencies) {
  return function confirmContact(input: ConfirmContact): Promise<ConfirmContactOutcome> {
    const { principal, code, by } = input;
    return inTransaction(pool, async (tx) => {
      const account = await accounts.lock(tx, principal.accountId);
      if (!account) return { outcome: "not-found" };
      requireState({ state: account.status }, "own-account:write");
      if (account.pendingContactAddress === null) return { outcome: "nothing-waiting" };
      const redeemed = await oneTimeCodes.redeem(tx, { purpose: "contact", subject: account.id, code });
      if (redeemed !== "good") {
        const refusal = codeRefusal("account.contact_confirm", account.id, redeemed, by);
        tx.afterCommit(() => noteRefusal(refusal));
        return { outcome: redeemed };
      }
      const confirmed = await adoptContact(tx, account, by);
      await input.alongside?.(tx, confirmed);
      return { outcome: "confirmed", account: confirmed };
    });
  };
}

export type ConfirmContactVerb = ReturnType<typeof createConfirmContact>;
