import type { Clock } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import type { AccountRecords } from "../accounts/account-events.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import { restoreContact } from "../accounts/contact.ts";
import type { Actor } from "../audit/audit-log.ts";
import type { IssuedTokens } from "../sign-ins/issued-tokens.ts";
import type { StepUps } from "../step-up/step-ups.ts";
import type { ContactConfirmations } from "./contact-changes.ts";
import { type ContactLink, type ContactLinkStore, digestLinkToken, isOpen } from "./contact-link.ts";
import type { ContactMails } from "./contact-mails.ts";
import type { VerifiedAddresses } from "./verified-addresses.ts";

interface LinkDependencies {
  readonly accountStore: Pick<AccountStore, "lock">;
  readonly contactLinkStore: Pick<ContactLinkStore, "find">;
  readonly contactConfirmations: Pick<ContactConfirmations, "byLink">;
  readonly contactObjections: ContactObjections;
  readonly clock: Clock;
}

export type LinkOutcome =
  | { outcome: "confirmed" | "taken" | "kept" | "blocked" | "ended"; account: Account }
  | { outcome: "not-signed-in"; account: Account; address: string }
  | { outcome: "unknown" };

/** The user of a link: address, request, and the account signed in to in the same browser. */
interface LinkUser extends Pick<Actor, "address" | "requestId"> {
  readonly signedInTo: string | null;
}

export type ContactLinks = ReturnType<typeof createContactLinks>;

/** The links from mails about a change of address. */
export function createContactLinks(dependencies: LinkDependencies) {
  const { accountStore, contactLinkStore, contactConfirmations, contactObjections, clock } = dependencies;

  return {
    /** Finds a link without using it. */
    find: (token: string): Promise<ContactLink | null> => contactLinkStore.find(digestLinkToken(token)),

    /**
     * Uses a link: confirms the pending address of the account that its user is signed in to, or objects to a change,
     * which needs no sign-in.
     */
    async use(tx: Tx, token: string, { signedInTo, ...from }: LinkUser): Promise<LinkOutcome> {
      const { account, link } = await lock(tx, token);
      if (!account || !link) return { outcome: "unknown" };
      if (!isOpen(link, clock.now())) return { outcome: "ended", account };
      const by: Actor = { kind: "owner", accountId: account.id, credential: "contact-link", ...from };
      if (link.kind === "object") return contactObjections.object(tx, account, link, by);
      if (signedInTo !== account.id) return { outcome: "not-signed-in", account, address: link.address };
      return { account, ...(await contactConfirmations.byLink(tx, account, link, by)) };
    },
  };

  /** Finds a link and locks its account. */
  async function lock(tx: Tx, token: string) {
    const digest = digestLinkToken(token);
    const accountId = (await contactLinkStore.find(digest, tx))?.accountId;
    const account = accountId === undefined ? null : await accountStore.lock(tx, accountId);
    // Read again under the lock: of two simultaneous uses the second one sees that the link was used.
    return { account, link: await contactLinkStore.find(digest, tx) };
  }
}

interface ObjectionDependencies {
  readonly accountStore: Pick<AccountStore, "save">;
  readonly accountRecords: Pick<AccountRecords, "changed">;
  readonly verifiedAddresses: Pick<VerifiedAddresses, "takeBack">;
  readonly contactLinkStore: Pick<ContactLinkStore, "markUsed" | "endLaterObjections">;
  readonly contactMails: Pick<ContactMails, "endConfirmation" | "tellOfObjection">;
  readonly issuedTokens: Pick<IssuedTokens, "revokeSignIns">;
  readonly stepUps: Pick<StepUps, "end">;
  readonly clock: Clock;
}

type ContactObjections = ReturnType<typeof createContactObjections>;

/** The objection of an earlier holder to a change of address. */
export function createContactObjections(dependencies: ObjectionDependencies) {
  const { accountStore, accountRecords, verifiedAddresses, contactLinkStore, contactMails, clock } = dependencies;
  const { issuedTokens, stepUps } = dependencies;

  return {
    /**
     * Keeps the link's address in use, or puts it in use again despite later changes. The earliest holder wins: an
     * objection ends those of later holders, so a thief who changed the address twice cannot object back.
     */
    async object(tx: Tx, account: Account, link: ContactLink, by: Actor): Promise<LinkOutcome> {
      if (account.status === "deleted") return { outcome: "ended", account };
      const now = clock.now();
      // Takes the address from an account that verified it later, such as one created by a sign-in with it meanwhile.
      await verifiedAddresses.takeBack(tx, link.address, account.id);
      await contactLinkStore.markUsed(tx, link, now);
      await contactLinkStore.endLaterObjections(tx, link, now);
      await contactMails.endConfirmation(tx, account);
      const changed = restoreContact(account, link.address, now);
      await accountRecords.changed(tx, by, "account.contact_object", changed);
      if (changed.accountFields.length === 0) return { outcome: "kept", account };
      return { outcome: "kept", account: await endNewHolder(tx, account, changed.account) };
    },
  };

  /** Mails the losing address, and ends what its holder may have proven: sign-ins, and step-ups by codes sent there. */
  async function endNewHolder(tx: Tx, before: Account, restored: Account): Promise<Account> {
    const wasReplaced = before.contactAddress !== restored.contactAddress;
    const loser = wasReplaced ? before.contactAddress : before.pendingContactAddress;
    if (loser !== null) await contactMails.tellOfObjection(tx, before, loser);
    if (wasReplaced) await issuedTokens.revokeSignIns(tx, before.id);
    const kept = wasReplaced ? await stepUps.end(tx, restored) : restored;
    await accountStore.save(tx, kept);
    return kept;
  }
}
