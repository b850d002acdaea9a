/** The code mails of the last hour that count against another one. */
export interface RecentMails {
  /** Mails to the address. */
  readonly toAddress: number;
  /** Those of them that were not requested by a known browser. */
  readonly ofStrangers: number;
  /** Mails to the address that this asker requested and did not answer by a sign-in. */
  readonly ofAsker: number;
  /** Mails to any address, requested from this client address and not answered by a sign-in. */
  readonly fromClient: number;
}

/**
 * Per hour. The share of an address that strangers cannot use up is reserved for browsers that its owner has signed in
 * with.
 */
const mailLimits = { toAddress: 20, ofStrangers: 15, ofAsker: 5, fromClient: 60 } as const;

/**
 * Returns true when an address may get another code. A browser that has signed in to the account always gets one more
 * than it was sent in vain, up to its own five: strangers cannot keep the owner out.
 */
export function mayMail(asker: "known browser" | "stranger", recent: RecentMails): boolean {
  if (recent.ofAsker >= mailLimits.ofAsker) return false;
  const addressHasRoom = recent.toAddress < mailLimits.toAddress;
  if (asker === "known browser") return addressHasRoom || recent.ofAsker === 0;
  return addressHasRoom && recent.ofStrangers < mailLimits.ofStrangers && recent.fromClient < mailLimits.fromClient;
}
