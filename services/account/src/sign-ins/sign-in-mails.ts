import { createHmac, hkdfSync, randomUUID } from "node:crypto";
import { hours } from "@signalbox/core";
import { advisoryLock, type RetentionRule, sql, type Tx, table } from "@signalbox/storage";
import type { AccountService } from "../context/account-service.ts";
import { columns } from "../generated/columns.ts";

/** The requester of a code, and the sign-in it is for. */
interface Asker {
  /** The sign-in that requests; its code works there only. */
  readonly signIn: string;
  /** The client address; for IPv6 the whole network. */
  readonly client: string;
  /** The browser, if it has signed in to the account before. */
  readonly knownBrowser: string | null;
}

const mails = table("sign_in_mails", columns.sign_in_mails);

/** Each part has its index; refused requests are not stored, so an address and an asker have few rows. */
const countRecent = sql(
  "sign-in-mail.count-recent",
  `select count(*) filter (where address = $1)::int as "toAddress",
     count(*) filter (where address = $1 and not known_browser)::int as "ofStrangers",
     count(*) filter (where address = $1 and asker = $2 and answered_at is null)::int as "ofAsker",
     count(*) filter (where address = $1 and sign_in = $4 and answered_at is null)::int as "ofSignIn",
     count(*) filter (where asker = $2 and answered_at is null)::int as "fromClient"
   from sign_in_mails where sent_at > $3 and (address = $1 or (asker = $2 and answered_at is null))`,
);

const markAnswered = sql(
  "sign-in-mail.mark-answered",
  "update sign_in_mails set answered_at = $2 where sign_in = $1 and answered_at is null",
);

// The sign-in code mails of the last hour. Addresses and askers are stored as keyed digests, so the table reveals neither.

/** Counts another mail to the address. Returns false, without counting, when the limit is reached. */
export async function countSignInMail(
  service: AccountService,
  tx: Tx,
  address: string,
  { signIn, client, knownBrowser }: Asker,
): Promise<boolean> {
  const [asker, kind] =
    knownBrowser === null
      ? [digestOf(service, "client", client), "stranger" as const]
      : [digestOf(service, "browser", knownBrowser), "known browser" as const];
  // Two concurrent requests count each other; locks are always taken in this order, which avoids deadlocks.
  await advisoryLock(tx, `sign-in mails to ${address}`);
  if (kind === "stranger") await advisoryLock(tx, `sign-in mails from ${client}`);
  const row = { address: digestOf(service, "address", address), asker, signIn: digestOf(service, "sign-in", signIn) };
  const sentAt = service.clock.now();
  const since = new Date(sentAt.getTime() - hours(1));
  const { rows } = await tx.query<RecentMails>(countRecent, [row.address, asker, since, row.signIn]);
  const [recent] = rows;
  if (!recent || !mayMail(kind, recent)) return false;
  const knows = kind === "known browser";
  await mails.insert(tx, { ...row, id: randomUUID(), knownBrowser: knows, sentAt, answeredAt: null });
  return true;
}

/** Notes a completed sign-in: its mails were wanted, and no longer count against the asker. */
export async function answerSignInMails(service: AccountService, tx: Tx, signIn: string): Promise<void> {
  await tx.query(markAnswered, [digestOf(service, "sign-in", signIn), service.clock.now()]);
}

function digestOf({ configuration }: AccountService, ...parts: readonly string[]): Buffer {
  const [sealingKey = ""] = configuration.get("secrets.keys");
  const key = Buffer.from(hkdfSync("sha256", sealingKey, "", "signalbox account sign-in mails", 32));
  return createHmac("sha256", key).update(JSON.stringify(parts)).digest();
}

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

export const signInMailRetention: RetentionRule = {
  name: "sign-in mail retention",
  table: "sign_in_mails",
  column: "sent_at",
  keepMs: hours(1),
};
