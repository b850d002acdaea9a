/** The mails with codes of the last hour that weigh in a decision about another one. */
export interface RecentMails {
  /** To the address. */
  readonly toAddress: number;
  /** Those of them that no known browser asked for. */
  readonly ofStrangers: number;
  /** To the address, asked for by who asks now, and not answered by a sign-in. */
  readonly ofAsker: number;
  /** To any address, from where it is asked now, and not answered by a sign-in. */
  readonly fromClient: number;
}

/** In an hour. What strangers may not use up of an address is left to the browsers that its owner has signed in with. */
const mailLimits = { toAddress: 20, ofStrangers: 15, ofAsker: 5, fromClient: 60 } as const;

/**
 * Says whether an address may be mailed another code. A browser that has signed in to the account always gets one more
 * than it was sent in vain, up to its own five: whatever strangers do, its owner gets in.
 */
export function mayMail(asker: "known browser" | "stranger", recent: RecentMails): boolean {
  if (recent.ofAsker >= mailLimits.ofAsker) return false;
  const addressHasRoom = recent.toAddress < mailLimits.toAddress;
  if (asker === "known browser") return addressHasRoom || recent.ofAsker === 0;
  return addressHasRoom && recent.ofStrangers < mailLimits.ofStrangers && recent.fromClient < mailLimits.fromClient;
}
