import { type Clock, hours } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { hintOf } from "../codes/code-answers.ts";
import type { OneTimeCodes, RedeemOutcome } from "../codes/one-time-codes.ts";
import { envelopeOf, type Mails } from "../mail/mails.ts";
import {
  type ContactLink,
  type ContactLinkStore,
  confirmationPath,
  digestLinkToken,
  linkPath,
  newLinkToken,
} from "./contact-link.ts";

interface ContactMailDependencies {
  readonly oneTimeCodes: Pick<OneTimeCodes, "issue" | "redeem" | "end">;
  readonly contactLinkStore: Pick<ContactLinkStore, "insert" | "endConfirmations">;
  readonly mails: Mails;
  readonly clock: Clock;
  readonly baseUrl: string;
  /** True when people sign in at the built-in issuer, where a link can identify its user. */
  readonly signsInByMail: boolean;
  /** `account.contact.objection-window`, in hours. */
  readonly objectionHours: () => number;
}

export type ContactMails = ReturnType<typeof createContactMails>;

/** The mails about a change of address, with the codes and links that let their readers act. */
export function createContactMails(dependencies: ContactMailDependencies) {
  const { oneTimeCodes, contactLinkStore, mails, clock, baseUrl, signsInByMail, objectionHours } = dependencies;
  const objectionEnd = () => new Date(clock.nowMs() + hours(objectionHours()));

  return {
    /** Mails a code and a link to the pending address, which end the older ones. */
    async askToConfirm(tx: Tx, account: Account, address: string): Promise<{ readonly expiresAt: Date } | "too-many"> {
      const { id: accountId } = account;
      const issued = await oneTimeCodes.issue(tx, { ...codePlace(accountId), accountId });
      if (issued === "too-many") return issued;
      const { code, expiresAt } = issued;
      await contactLinkStore.endConfirmations(tx, accountId, clock.now());
      const link = await makeLink(tx, { accountId, kind: "confirm", address, expiresAt });
      await mails.enqueue(tx, { kind: "confirm-contact", ...envelopeOf(account, address, expiresAt), code, link });
      return { expiresAt };
    },

    /** Redeems the code that was mailed to the pending address. */
    redeem: (tx: Tx, { id }: Account, code: string): Promise<RedeemOutcome> =>
      oneTimeCodes.redeem(tx, { ...codePlace(id), code }),

    /** Ends the code and the links that could confirm the pending address. */
    async endConfirmation(tx: Tx, { id }: Account): Promise<void> {
      await oneTimeCodes.end(tx, codePlace(id));
      await contactLinkStore.endConfirmations(tx, id, clock.now());
    },

    /** Notifies the address in use of the requested replacement. */
    async tellOfRequest(tx: Tx, account: Account, address: string, newAddress: string): Promise<void> {
      const given = await objection(tx, account, address);
      await mails.enqueue(tx, { kind: "contact-change-requested", ...given, newAddress: hintOf(newAddress) });
    },

    /** Notifies the address that was replaced. A new objection window starts, however long the change was pending. */
    async tellOfReplacement(tx: Tx, account: Account, address: string, newAddress: string): Promise<void> {
      const given = await objection(tx, account, address);
      await mails.enqueue(tx, { kind: "contact-changed", ...given, newAddress: hintOf(newAddress) });
    },

    /** Notifies the address that was removed. */
    async tellOfRemoval(tx: Tx, account: Account, address: string): Promise<void> {
      await mails.enqueue(tx, { kind: "contact-cleared", ...(await objection(tx, account, address)) });
    },

    /** Notifies an address that lost to an earlier holder's objection. */
    async tellOfObjection(tx: Tx, account: Account, address: string): Promise<void> {
      await mails.enqueue(tx, { kind: "contact-change-undone", ...envelopeOf(account, address, objectionEnd()) });
    },
  };

  async function objection(tx: Tx, account: Account, address: string) {
    const expiresAt = objectionEnd();
    const link = await makeLink(tx, { accountId: account.id, kind: "object", address, expiresAt });
    return { ...envelopeOf(account, address, expiresAt), link };
  }

  async function makeLink(tx: Tx, link: Omit<ContactLink, "id" | "usedAt">): Promise<string> {
    const token = newLinkToken();
    await contactLinkStore.insert(tx, digestLinkToken(token), link);
    const path = link.kind === "confirm" && signsInByMail ? `${confirmationPath}/${token}` : linkPath(token);
    return `${baseUrl}${path}`;
  }
}

const codePlace = (subject: string) => ({ purpose: "contact", subject }) as const;
