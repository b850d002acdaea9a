import type { Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { tooManyCodes } from "../codes/too-many-codes.ts";
import type { EndConfirmation } from "./end-confirmation.ts";
import type { HolderMails } from "./holder-mails.ts";

interface Dependencies {
  readonly holderMails: HolderMails;
  readonly endConfirmation: EndConfirmation;
}

/** What a write of `contact_address` sets off, in its transaction: both holders hear of it and can act. */
export function createFollowContactChange({ holderMails, endConfirmation }: Dependencies) {
  /** @throws AppError `rate_limited` when too many addresses were tried within the hour. */
  return async function followContactChange(tx: Tx, before: Account, after: Account): Promise<void> {
    const inUse = before.contactAddress;
    if (after.contactAddress === null && inUse !== null) {
      await endConfirmation(tx, after.id);
      await holderMails.tellOfRemoval(tx, after, inUse);
      return;
    }
    const wanted = after.pendingContactAddress;
    if (wanted === null || wanted === before.pendingContactAddress) return;
    if ((await holderMails.askToConfirm(tx, after, wanted)) === "too-many") throw tooManyCodes("contact_address");
    if (inUse !== null) await holderMails.tellOfRequest(tx, after, inUse, wanted);
  };
}

export type FollowContactChange = ReturnType<typeof createFollowContactChange>;
