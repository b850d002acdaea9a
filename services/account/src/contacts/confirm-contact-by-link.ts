import { type AccountState, mayAccess } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import { inTransaction, type Pool } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Actor } from "../audit/audit.ts";
import type { AdoptContact } from "./adopt-contact.ts";
import { digestLinkToken, isOpen } from "./contact-link.ts";
import type { ContactLinkStore } from "./contact-link-store.ts";

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
  readonly contactLinks: Pick<ContactLinkStore, "find">;
  readonly adoptContact: AdoptContact;
  readonly clock: Clock;
}

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
