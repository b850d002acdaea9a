import { type Principal, requireState } from "@signalbox/auth";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { AccountStore } from "../accounts/account-store.ts";
import type { HolderMails } from "./holder-mails.ts";

export interface ResendContactCode {
  readonly principal: Principal;
  /** Runs in the transaction that sends. */
  readonly alongside?: (tx: Tx, sent: SentContactCode) => Promise<void>;
}

export interface SentContactCode {
  readonly address: string;
  readonly expiresAt: Date;
}

export type ResendContactCodeOutcome =
  | { outcome: "sent"; sent: SentContactCode }
  | { outcome: "too-many" }
  | { outcome: "nothing-waiting" }
  | { outcome: "not-found" };

interface Dependencies {
  readonly pool: Pool;
  readonly accounts: Pick<AccountStore, "lock">;
  readonly holderMails: Pick<HolderMails, "askToConfirm">;
}

/** Sends another code and another link to the address that waits. They end the earlier ones. */
export function createResendContactCode({ pool, accounts, holderMails }: Dependencies) {
  return function resendContactCode({ principal, alongside }: ResendContactCode): Promise<ResendContactCodeOutcome> {
    return inTransaction(pool, async (tx) => {
      const account = await accounts.lock(tx, principal.accountId);
      if (!account) return { outcome: "not-found" };
      requireState({ state: account.status }, "own-account:write");
      const address = account.pendingContactAddress;
      if (address === null) return { outcome: "nothing-waiting" };
      const asked = await holderMails.askToConfirm(tx, account, address);
      if (asked === "too-many") return { outcome: "too-many" };
      const sent = { address, expiresAt: asked.expiresAt };
      await alongside?.(tx, sent);
      return { outcome: "sent", sent };
    });
  };
}

export type ResendContactCodeVerb = ReturnType<typeof createResendContactCode>;
