import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { accountChanged } from "../accounts/account-events.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { Actor, Audit } from "../audit/audit.ts";
import type { EndSignIns } from "../oauth/end-sign-ins.ts";
import type { EndStepUps } from "../step-up/end-step-ups.ts";
import { digestLinkToken, isOpen } from "./contact-link.ts";
import type { ContactLinkStore } from "./contact-link-store.ts";
import type { EndConfirmation } from "./end-confirmation.ts";
import type { HolderMails } from "./holder-mails.ts";
import { withContactRestored } from "./move-contact.ts";

export interface ObjectToContactChange {
  readonly token: string;
  /** Who objects, from where; the account is the link's. */
  readonly by: (accountId: string) => Actor;
}

export type ObjectToContactChangeOutcome = { outcome: "kept"; account: Account } | { outcome: "ended" };

interface Dependencies {
  readonly pool: Pool;
  readonly accounts: Pick<AccountStore, "lock" | "save">;
  readonly contactLinks: Pick<ContactLinkStore, "find" | "markUsed" | "endLaterObjections">;
  readonly holderMails: Pick<HolderMails, "tellOfObjection">;
  readonly endConfirmation: EndConfirmation;
  readonly endStepUps: EndStepUps;
  readonly endSignIns: EndSignIns;
  readonly outbox: Pick<Outbox, "append">;
  readonly audit: Audit;
  readonly clock: Clock;
}

/**
 * The holder of an address that was in use objects: it stays, or is again, in use, whatever came after it. The earliest
 * holder wins: an objection ends those of later holders, so a thief who changed the address twice cannot object back.
 */
export function createObjectToContactChange(dependencies: Dependencies) {
  const { pool, accounts, contactLinks, endConfirmation, clock } = dependencies;

  return function objectToContactChange({ token, by }: ObjectToContactChange): Promise<ObjectToContactChangeOutcome> {
    return inTransaction(pool, async (tx) => {
      const digest = digestLinkToken(token);
      const accountId = (await contactLinks.find(digest, tx))?.accountId;
      const account = accountId === undefined ? null : await accounts.lock(tx, accountId);
      // Read again under the lock: of two at once the second one sees that the link was used.
      const link = await contactLinks.find(digest, tx);
      const now = clock.now();
      if (!account || !link || !isOpen(link, "object", now) || account.status === "deleted")
        return { outcome: "ended" };
      await contactLinks.markUsed(tx, link, now);
      await contactLinks.endLaterObjections(tx, link, now);
      await endConfirmation(tx, account.id);
      return { outcome: "kept", account: await restore(tx, account, link.address, by(account.id)) };
    });
  };

  async function restore(tx: Tx, account: Account, address: string, by: Actor): Promise<Account> {
    const { holderMails, outbox, audit } = dependencies;
    const changed = withContactRestored(account, address, clock.now());
    const { accountFields: fields } = changed;
    await audit.record(tx, { action: "account.contact_object", accountId: account.id, fields, by });
    if (fields.length === 0) return account;
    await outbox.append(tx, accountChanged(changed));
    const wasReplaced = account.contactAddress !== address;
    const loser = wasReplaced ? account.contactAddress : account.pendingContactAddress;
    if (loser !== null) await holderMails.tellOfObjection(tx, account, loser);
    const restored = wasReplaced ? await withoutProofs(tx, changed.account) : changed.account;
    await accounts.save(tx, restored);
    return restored;
  }

  /** Whoever read mail at the address that goes may have signed in and proven themselves with codes sent there. */
  async function withoutProofs(tx: Tx, account: Account): Promise<Account> {
    await dependencies.endSignIns(tx, account.id);
    return dependencies.endStepUps(tx, account);
  }
}

export type ObjectToContactChangeVerb = ReturnType<typeof createObjectToContactChange>;
