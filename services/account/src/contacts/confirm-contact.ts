import { type Principal, requireState } from "@signalbox/auth";
import { type AccountState, mayAccess } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Actor } from "../audit/audit.ts";
import type { OneTimeCodes, RedeemOutcome } from "../codes/one-time-codes.ts";
import type { AdoptContact } from "./adopt-contact.ts";
import { type ContactLink, digestLinkToken } from "./contact-link.ts";
import type { ContactLinkStore } from "./contact-link-store.ts";

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

export interface ConfirmContactByLink {
  readonly token: string;
  /** Who confirms, from where; the account is the link's. */
  readonly by: (accountId: string) => Actor;
}

export type ConfirmContactByLinkOutcome =
  | { outcome: "confirmed"; account: Account }
  | { outcome: "blocked"; state: AccountState }
  | { outcome: "ended" };

interface Dependencies {
  readonly pool: Pool;
  readonly accounts: Pick<AccountStore, "lock">;
  readonly oneTimeCodes: Pick<OneTimeCodes, "redeem">;
  readonly contactLinks: Pick<ContactLinkStore, "find">;
  readonly adoptContact: AdoptContact;
  readonly clock: Clock;
}

/** Confirms the waiting address by the code that was sent there. The code is the proof: a recent sign-in is not needed. */
export function createConfirmContact({ pool, accounts, oneTimeCodes, adoptContact }: Dependencies) {
  return function confirmContact(input: ConfirmContact): Promise<ConfirmContactOutcome> {
    const { principal, code, by } = input;
    return inTransaction(pool, async (tx) => {
      const account = await accounts.lock(tx, principal.accountId);
      if (!account) return { outcome: "not-found" };
      requireState({ ...principal, state: account.status }, "own-account:write");
      if (account.pendingContactAddress === null) return { outcome: "nothing-waiting" };
      const redeemed = await oneTimeCodes.redeem(tx, { purpose: "contact", subject: account.id, code });
      if (redeemed !== "good") return { outcome: redeemed };
      const confirmed = await adoptContact(tx, account, by);
      await input.alongside?.(tx, confirmed);
      return { outcome: "confirmed", account: confirmed };
    });
  };
}

export type ConfirmContactVerb = ReturnType<typeof createConfirmContact>;

/** Confirms the waiting address by the link that was sent there, which needs no sign-in at all. */
export function createConfirmContactByLink({ pool, accounts, contactLinks, adoptContact, clock }: Dependencies) {
  return function confirmContactByLink({ token, by }: ConfirmContactByLink): Promise<ConfirmContactByLinkOutcome> {
    return inTransaction(pool, async (tx) => {
      const digest = digestLinkToken(token);
      const accountId = (await contactLinks.find(digest, tx))?.accountId;
      const account = accountId === undefined ? null : await accounts.lock(tx, accountId);
      // Read again under the lock: of two at once the second one sees that the link was used.
      const link = await contactLinks.find(digest, tx);
      if (!account || !link || !isOpen(link, "confirm", clock.now())) return { outcome: "ended" };
      if (link.address !== account.pendingContactAddress) return { outcome: "ended" };
      if (!mayAccess(account.status, "own-account:write")) return { outcome: "blocked", state: account.status };
      return { outcome: "confirmed", account: await adoptContact(tx, account, by(account.id)) };
    });
  };
}

export type ConfirmContactByLinkVerb = ReturnType<typeof createConfirmContactByLink>;

/** Whether a link may still be used for what it is for. */
export function isOpen(link: ContactLink, kind: ContactLink["kind"], now: Date): boolean {
  return link.kind === kind && link.usedAt === null && link.expiresAt > now;
}
