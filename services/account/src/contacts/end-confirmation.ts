import type { Clock } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import type { OneTimeCodes } from "../codes/one-time-codes.ts";
import type { ContactLinkStore } from "./contact-link-store.ts";

interface Dependencies {
  readonly oneTimeCodes: Pick<OneTimeCodes, "end">;
  readonly contactLinks: Pick<ContactLinkStore, "endConfirmations">;
  readonly clock: Clock;
}

/** Ends the code and the links that could confirm what waits, or waited. */
export function createEndConfirmation({ oneTimeCodes, contactLinks, clock }: Dependencies) {
  return async function endConfirmation(tx: Tx, accountId: string): Promise<void> {
    await oneTimeCodes.end(tx, { purpose: "contact", subject: accountId });
    await contactLinks.endConfirmations(tx, accountId, clock.now());
  };
}

export type EndConfirmation = ReturnType<typeof createEndConfirmation>;
