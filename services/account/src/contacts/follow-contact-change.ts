import { AppError } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { tooManyCodes } from "../codes/too-many-codes.ts";
import type { IdentityStore } from "../identities/identity-store.ts";
import type { HasWayIn } from "../identities/way-in.ts";
import type { EndConfirmation } from "./end-confirmation.ts";
import type { HolderMails } from "./holder-mails.ts";

interface Dependencies {
  readonly identities: Pick<IdentityStore, "list">;
  readonly hasWayIn: HasWayIn;
  readonly holderMails: HolderMails;
  readonly endConfirmation: EndConfirmation;
}

/** What a write of `contact_address` sets off, in its transaction: both holders hear of it and can act. */
export function createFollowContactChange({ identities, hasWayIn, ...rest }: Dependencies) {
  const { holderMails, endConfirmation } = rest;

  /**
   * @throws AppError `rate_limited` when too many addresses were tried within the hour, `conflict` when the address that
   * is removed is the only way into the account.
   */
  return async function followContactChange(tx: Tx, before: Account, after: Account): Promise<void> {
    const inUse = before.contactAddress;
    if (after.contactAddress === null && inUse !== null) {
      await requireWayIn(tx, before, after);
      await endConfirmation(tx, after.id);
      await holderMails.tellOfRemoval(tx, after, inUse);
      return;
    }
    const wanted = after.pendingContactAddress;
    if (wanted === null || wanted === before.pendingContactAddress) return;
    if ((await holderMails.askToConfirm(tx, after, wanted)) === "too-many") throw tooManyCodes("contact_address");
    if (inUse !== null) await holderMails.tellOfRequest(tx, after, inUse, wanted);
  };

  /** Whoever removed the address that they sign in with would learn of it when it is too late. */
  async function requireWayIn(tx: Tx, before: Account, after: Account): Promise<void> {
    const logins = await identities.list(before.id, tx);
    if ((await hasWayIn(tx, after, logins)) || !(await hasWayIn(tx, before, logins))) return;
    const message =
      "This address is the only way into the account: change it, or make an API key with account:security first.";
    throw new AppError("conflict", message, { details: [{ field: "contact_address", code: "last_way_in", message }] });
  }
}

export type FollowContactChange = ReturnType<typeof createFollowContactChange>;
