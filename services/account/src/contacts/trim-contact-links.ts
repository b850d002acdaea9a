import { type Clock, hours } from "@signalbox/core";
import type { ContactLinkStore } from "./contact-link-store.ts";

interface Dependencies {
  readonly contactLinks: Pick<ContactLinkStore, "trim">;
  readonly clock: Clock;
}

/** Long enough to tell a late person that their link has ended, rather than that it never was. */
const keptMs = hours(24 * 30);

/** Removes links that ended long ago. */
export function createTrimContactLinks({ contactLinks, clock }: Dependencies) {
  return async function trimContactLinks(): Promise<void> {
    await contactLinks.trim(new Date(clock.nowMs() - keptMs));
  };
}
