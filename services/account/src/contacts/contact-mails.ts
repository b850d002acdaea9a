import { hours } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { hintOf } from "../codes/code-answers.ts";
import { endCode, issueCode, type RedeemOutcome, redeemCode } from "../codes/one-time-codes.ts";
import type { AccountService } from "../context/account-service.ts";
import { envelopeOf } from "../mail/mails.ts";
import {
  type ContactLink,
  confirmationPath,
  digestLinkToken,
  endConfirmationLinks,
  insertContactLink,
  linkPath,
  newLinkToken,
} from "./contact-link.ts";

/** Mails a code and a link to the pending address, which end the older ones. */
export async function askToConfirmContact(
  service: AccountService,
  tx: Tx,
  account: Account,
  address: string,
): Promise<{ readonly expiresAt: Date } | "too-many"> {
  const { id: accountId } = account;
  const issued = await issueCode(service, tx, { ...codePlace(accountId), accountId });
  if (issued === "too-many") return issued;
  const { code, expiresAt } = issued;
  await endConfirmationLinks(tx, accountId, service.clock.now());
  const link = await makeContactLink(service, tx, { accountId, kind: "confirm", address, expiresAt });
  await service.mails.enqueue(tx, { kind: "confirm-contact", ...envelopeOf(account, address, expiresAt), code, link });
  return { expiresAt };
}

export const redeemContactCode = (
  service: AccountService,
  tx: Tx,
  { id }: Account,
  code: string,
): Promise<RedeemOutcome> => redeemCode(service, tx, { ...codePlace(id), code });

/** Ends the code and the links that could confirm the pending address. */
export async function endContactConfirmation(service: AccountService, tx: Tx, { id }: Account): Promise<void> {
  await endCode(service, tx, codePlace(id));
  await endConfirmationLinks(tx, id, service.clock.now());
}

/** A change of the contact address, as the mail to the former one describes it. */
type ContactChange =
  | { readonly kind: "contact-change-requested" | "contact-changed"; readonly newAddress: string }
  | { readonly kind: "contact-cleared" };

/** Notifies an address of a change, to which its holder can object for a whole window, however long it was pending. */
export async function tellOfContactChange(
  service: AccountService,
  tx: Tx,
  account: Account,
  address: string,
  change: ContactChange,
): Promise<void> {
  const expiresAt = objectionEnd(service);
  const link = await makeContactLink(service, tx, { accountId: account.id, kind: "object", address, expiresAt });
  const shown = "newAddress" in change ? { ...change, newAddress: hintOf(change.newAddress) } : change;
  await service.mails.enqueue(tx, { ...envelopeOf(account, address, expiresAt), link, ...shown });
}

/** Notifies an address that lost to an earlier holder's objection. */
export async function tellOfContactObjection(
  service: AccountService,
  tx: Tx,
  account: Account,
  address: string,
): Promise<void> {
  const envelope = envelopeOf(account, address, objectionEnd(service));
  await service.mails.enqueue(tx, { kind: "contact-change-undone", ...envelope });
}

async function makeContactLink(
  { hasIssuer, configuration }: AccountService,
  tx: Tx,
  link: Omit<ContactLink, "id" | "usedAt">,
): Promise<string> {
  const token = newLinkToken();
  await insertContactLink(tx, digestLinkToken(token), link);
  const path = link.kind === "confirm" && hasIssuer ? `${confirmationPath}/${token}` : linkPath(token);
  return `${configuration.get("http.base-url")}${path}`;
}

const objectionEnd = ({ clock, configuration }: AccountService) =>
  new Date(clock.nowMs() + hours(configuration.get("account.contact.objection-window")));

const codePlace = (subject: string) => ({ purpose: "contact", subject }) as const;
