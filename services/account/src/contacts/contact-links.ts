import type { Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { restoreContact } from "../accounts/contact.ts";
import type { Actor, RequestOrigin } from "../audit/audit-log.ts";
import { recordAccountChange } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { revokeSignIns } from "../sign-ins/issued-tokens.ts";
import { endAllStepUps } from "../step-up/step-ups.ts";
import { confirmContactByLink } from "./contact-changes.ts";
import {
  type ContactLink,
  digestLinkToken,
  endLaterObjectionLinks,
  findContactLink,
  isOpen,
  markContactLinkUsed,
} from "./contact-link.ts";
import { endContactConfirmation, tellOfContactObjection } from "./contact-mails.ts";
import { takeBackAddress } from "./verified-addresses.ts";

export type LinkOutcome =
  | { outcome: "confirmed" | "taken" | "kept" | "blocked" | "ended"; account: Account }
  | { outcome: "not-signed-in"; account: Account; address: string }
  | { outcome: "unknown" };

/** The user of a link: address, request, and the account signed in to in the same browser. */
interface LinkUser extends RequestOrigin {
  readonly signedInTo: string | null;
}

export const findLinkByToken = ({ pool }: AccountService, token: string): Promise<ContactLink | null> =>
  findContactLink(pool, digestLinkToken(token));

/**
 * Uses a link: confirms the pending address of the account that its user is signed in to, or objects to a change,
 * which needs no sign-in.
 */
export async function useContactLink(
  service: AccountService,
  tx: Tx,
  token: string,
  { signedInTo, ...from }: LinkUser,
): Promise<LinkOutcome> {
  const { account, link } = await lockLink(service, tx, token);
  if (!account || !link) return { outcome: "unknown" };
  if (!isOpen(link, service.clock.now())) return { outcome: "ended", account };
  const by: Actor = { kind: "owner", accountId: account.id, credential: "contact-link", ...from };
  if (link.kind === "object") return objectToContact(service, tx, account, link, by);
  if (signedInTo !== account.id) return { outcome: "not-signed-in", account, address: link.address };
  return { account, ...(await confirmContactByLink(service, tx, account, link, by)) };
}

async function lockLink({ accountStore }: AccountService, tx: Tx, token: string) {
  const digest = digestLinkToken(token);
  const accountId = (await findContactLink(tx, digest))?.accountId;
  const account = accountId === undefined ? null : await accountStore.lock(tx, accountId);
  // Read again under the lock: of two simultaneous uses the second one sees that the link was used.
  return { account, link: await findContactLink(tx, digest) };
}

/**
 * Keeps the link's address in use, or puts it in use again despite later changes. The earliest holder wins: an
 * objection ends those of later holders, so a thief who changed the address twice cannot object back.
 */
async function objectToContact(
  service: AccountService,
  tx: Tx,
  account: Account,
  link: ContactLink,
  by: Actor,
): Promise<LinkOutcome> {
  if (account.status === "deleted") return { outcome: "ended", account };
  const now = service.clock.now();
  // Takes the address from an account that verified it later, such as one created by a sign-in with it meanwhile.
  await takeBackAddress(service, tx, link.address, account.id);
  await markContactLinkUsed(tx, link, now);
  await endLaterObjectionLinks(tx, link, now);
  await endContactConfirmation(service, tx, account);
  const changed = restoreContact(account, link.address, now);
  await recordAccountChange(service, tx, by, "account.contact_object", changed);
  if (changed.accountFields.length === 0) return { outcome: "kept", account };
  return { outcome: "kept", account: await endNewHolder(service, tx, account, changed.account) };
}

/** Mails the losing address, and ends what its holder may have proven: sign-ins, and step-ups by codes sent there. */
async function endNewHolder(service: AccountService, tx: Tx, before: Account, restored: Account): Promise<Account> {
  const wasReplaced = before.contactAddress !== restored.contactAddress;
  const loser = wasReplaced ? before.contactAddress : before.pendingContactAddress;
  if (loser !== null) await tellOfContactObjection(service, tx, before, loser);
  if (wasReplaced) await revokeSignIns(service, tx, before.id);
  const kept = wasReplaced ? await endAllStepUps(service, tx, restored) : restored;
  await service.accountStore.save(tx, kept);
  return kept;
}
