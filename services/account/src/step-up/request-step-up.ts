import { type Principal, requireState } from "@signalbox/auth";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { AccountStore } from "../accounts/account-store.ts";
import type { OneTimeCodes } from "../codes/one-time-codes.ts";
import type { Mails } from "../mail/mails.ts";
import { canStepUp, stepUpPlace } from "./step-up-of.ts";

export interface RequestStepUp {
  readonly principal: Principal;
  /** Runs in the transaction that sends. */
  readonly alongside?: (tx: Tx, sent: SentStepUp) => Promise<void>;
}

export interface SentStepUp {
  readonly address: string;
  readonly expiresAt: Date;
}

export type RequestStepUpOutcome =
  | { outcome: "sent"; sent: SentStepUp }
  | { outcome: "no-address" }
  | { outcome: "too-many" }
  | { outcome: "not-a-person" }
  | { outcome: "not-found" };

interface Dependencies {
  readonly pool: Pool;
  readonly accounts: Pick<AccountStore, "lock">;
  readonly oneTimeCodes: Pick<OneTimeCodes, "issue">;
  readonly mails: Mails;
}

/** Mails a code to the verified address, for a person whose sign-in is too old for what they want to do. */
export function createRequestStepUp({ pool, accounts, oneTimeCodes, mails }: Dependencies) {
  return async function requestStepUp({ principal, alongside }: RequestStepUp): Promise<RequestStepUpOutcome> {
    if (!canStepUp(principal)) return { outcome: "not-a-person" };
    return inTransaction(pool, async (tx): Promise<RequestStepUpOutcome> => {
      const account = await accounts.lock(tx, principal.accountId);
      if (!account) return { outcome: "not-found" };
      requireState({ state: account.status }, "own-account:write");
      const { id: accountId, contactAddress: address, locale } = account;
      if (address === null || !account.contactAddressVerified) return { outcome: "no-address" };
      const issued = await oneTimeCodes.issue(tx, { ...stepUpPlace(principal), accountId });
      if (issued === "too-many") return { outcome: "too-many" };
      const { code, expiresAt } = issued;
      await mails.enqueue(tx, { kind: "step-up-code", to: address, accountId, locale, expiresAt, code });
      await alongside?.(tx, { address, expiresAt });
      return { outcome: "sent", sent: { address, expiresAt } };
    });
  };
}

export type RequestStepUpVerb = ReturnType<typeof createRequestStepUp>;
