import { AppError, type Clock } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import type { OneTimeCodes } from "../codes/one-time-codes.ts";
import type { ContactLinkStore } from "./contact-link-store.ts";
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

/** Ends the code and the links that could confirm what waits, or waited. */
export function createEndConfirmation(parts: {
  readonly oneTimeCodes: Pick<OneTimeCodes, "end">;
  readonly contactLinks: Pick<ContactLinkStore, "endConfirmations">;
  readonly clock: Clock;
}) {
  return async function endConfirmation(tx: Tx, accountId: string): Promise<void> {
    await parts.oneTimeCodes.end(tx, { purpose: "contact", subject: accountId });
    await parts.contactLinks.endConfirmations(tx, accountId, parts.clock.now());
  };
}

export type EndConfirmation = ReturnType<typeof createEndConfirmation>;

/** Five codes an hour; the oldest of them is at most that old. */
export const tooManyCodes = (field?: string) =>
  new AppError("rate_limited", "Too many codes were asked for. Try again in an hour.", {
    field,
    retryAfterSeconds: 3600,
  });
