import { type Clock, hours } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import type { OneTimeCodes } from "../codes/one-time-codes.ts";
import type { Mails } from "../mail/mails.ts";
import { type ContactLinkKind, digestLinkToken, hintOf, linkPath, newLinkToken } from "./contact-link.ts";
import type { ContactLinkStore } from "./contact-link-store.ts";

interface Dependencies {
  readonly oneTimeCodes: Pick<OneTimeCodes, "issue">;
  readonly contactLinks: Pick<ContactLinkStore, "insert" | "endConfirmations">;
  readonly mails: Mails;
  readonly clock: Clock;
  readonly baseUrl: string;
  /** `account.contact.objection-window`, in hours. */
  readonly objectionHours: () => number;
}

/** The mails about a change of address, each with the link that lets its reader act. */
export interface HolderMails {
  /** Asks the waiting address to confirm, with a new code and a new link, which end older ones. */
  askToConfirm(tx: Tx, account: Account, address: string): Promise<{ readonly expiresAt: Date } | "too-many">;
  /** Tells the address in use that another one waits to replace it. */
  tellOfRequest(tx: Tx, account: Account, address: string, newAddress: string): Promise<void>;
  /** Tells an address that it was in use until now. A new window begins, however long the change had waited. */
  tellOfReplacement(tx: Tx, account: Account, address: string, newAddress: string): Promise<void>;
  tellOfRemoval(tx: Tx, account: Account, address: string): Promise<void>;
  /** Tells an address that somebody objected to it. */
  tellOfObjection(tx: Tx, account: Account, address: string): Promise<void>;
}

export function createHolderMails(dependencies: Dependencies): HolderMails {
  const { oneTimeCodes, contactLinks, mails, clock, baseUrl, objectionHours } = dependencies;

  return {
    async askToConfirm(tx, account, address) {
      const subject = { purpose: "contact", subject: account.id } as const;
      const issued = await oneTimeCodes.issue(tx, { ...subject, accountId: account.id });
      if (issued === "too-many") return issued;
      const { code, expiresAt } = issued;
      await contactLinks.endConfirmations(tx, account.id, clock.now());
      const link = await makeLink(tx, { accountId: account.id, kind: "confirm", address, expiresAt });
      await mails.enqueue(tx, { kind: "confirm-contact", ...envelope(account, address, expiresAt), code, link });
      return { expiresAt };
    },
    async tellOfRequest(tx, account, address, newAddress) {
      const given = await objection(tx, account, address);
      await mails.enqueue(tx, { kind: "contact-change-requested", ...given, newAddress: hintOf(newAddress) });
    },
    async tellOfReplacement(tx, account, address, newAddress) {
      const given = await objection(tx, account, address);
      await mails.enqueue(tx, { kind: "contact-changed", ...given, newAddress: hintOf(newAddress) });
    },
    async tellOfRemoval(tx, account, address) {
      await mails.enqueue(tx, { kind: "contact-cleared", ...(await objection(tx, account, address)) });
    },
    async tellOfObjection(tx, account, address) {
      const expiresAt = new Date(clock.nowMs() + hours(objectionHours()));
      await mails.enqueue(tx, { kind: "contact-change-undone", ...envelope(account, address, expiresAt) });
    },
  };

  async function objection(tx: Tx, account: Account, address: string) {
    const expiresAt = new Date(clock.nowMs() + hours(objectionHours()));
    const link = await makeLink(tx, { accountId: account.id, kind: "object", address, expiresAt });
    return { ...envelope(account, address, expiresAt), link, hours: objectionHours() };
  }

  async function makeLink(
    tx: Tx,
    link: { accountId: string; kind: ContactLinkKind; address: string; expiresAt: Date },
  ) {
    const token = newLinkToken();
    await contactLinks.insert(tx, digestLinkToken(token), link);
    return `${baseUrl}${linkPath(token)}`;
  }
}

const envelope = ({ id, locale }: Account, to: string, expiresAt: Date) => ({ to, accountId: id, locale, expiresAt });
