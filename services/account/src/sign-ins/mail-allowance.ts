/** The code mails of the last hour that count against another one. */
export interface RecentMails {
  /** Mails to the address. */
  readonly toAddress: number;
  /** Those of them that were not requested by a known browser. */
  readonly ofStrangers: number;
  /** Mails to the address that this asker requested and did not answer by a sign-in. */
  readonly ofAsker: number;
  /** Those of them that were requested in this sign-in, which is one browser's. */
  readonly ofSignIn: number;
  /** Mails to any address, requested from this client address and not answered by a sign-in. */
  readonly fromClient: number;
}

/**
 * Per hour. The share of an address that strangers cannot use up is reserved for browsers that its owner has signed in
 * with. What one sign-in of a network cannot use up is left for first codes of others there: the owner's new browser
 * may share the network with a stranger.
 */
const mailLimits = { toAddress: 20, ofStrangers: 15, ofAsker: 5, firstsOfAsker: 10, fromClient: 60 } as const;

/**
 * Returns true when an address may get another code. A browser that has signed in to the account always gets one more
 * than it was sent in vain, up to its own five: strangers cannot keep the owner out.
 */
export function mayMail(asker: "known browser" | "stranger", recent: RecentMails): boolean {
  const addressHasRoom = recent.toAddress < mailLimits.toAddress;
  if (asker === "known browser") {
    return recent.ofAsker < mailLimits.ofAsker && (addressHasRoom || recent.ofAsker === 0);
  }
  const askerMax = recent.ofSignIn === 0 ? mailLimits.firstsOfAsker : mailLimits.ofAsker;
  if (recent.ofAsker >= askerMax || recent.fromClient >= mailLimits.fromClient) return false;
  return addressHasRoom && recent.ofStrangers < mailLimits.ofStrangers;
}
