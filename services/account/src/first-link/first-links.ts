import type { Clock } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import type { AccountRecords } from "../accounts/account-events.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import { changedAccount } from "../accounts/change-account.ts";
import type { Actor, Audit } from "../audit/audit-log.ts";
import type { RefusedCode } from "../codes/code-answers.ts";
import type { OneTimeCodes } from "../codes/one-time-codes.ts";
import type { VerifiedAddresses } from "../contacts/verified-addresses.ts";
import type { NewPasskey } from "../passkeys/ceremonies.ts";
import type { Passkeys } from "../passkeys/passkeys.ts";
import { codePlace, type TypedCode } from "../sign-ins/sign-ins.ts";
import type { FirstLink, FirstLinkStore } from "./first-link.ts";

interface Dependencies {
  readonly oneTimeCodes: Pick<OneTimeCodes, "redeem">;
  readonly audit: Pick<Audit, "record">;
  readonly firstLinkStore: Pick<FirstLinkStore, "find" | "lock" | "markUsed">;
  readonly accountStore: Pick<AccountStore, "find" | "lock" | "save">;
  readonly accountRecords: Pick<AccountRecords, "changed" | "verified">;
  readonly verifiedAddresses: Pick<VerifiedAddresses, "holderOf">;
  readonly passkeys: Pick<Passkeys, "add">;
  readonly clock: Clock;
}

/** A code typed by a person who follows the link, with the name that they have typed before. */
export interface FirstAdministrator extends Pick<TypedCode, "signIn" | "address" | "code" | "by"> {
  readonly token: string;
  readonly name: string;
}

/** A verified passkey of a person who follows the link. */
interface FirstPasskey extends Pick<TypedCode, "by"> {
  readonly token: string;
  readonly made: NewPasskey;
  /** The name of the passkey. */
  readonly name: string;
}

type Refusal = { outcome: "address-taken" } | { outcome: "passkey-refused" };

type UseOutcome = { outcome: "signed-in"; accountId: string } | { outcome: "first-link-ended" };

export type FirstLinkOutcome =
  | UseOutcome
  | { outcome: "code-refused"; why: RefusedCode }
  | Extract<Refusal, { outcome: "address-taken" }>;

export type FirstLinks = ReturnType<typeof createFirstLinks>;

/** The links that sign the first administrator in. */
export function createFirstLinks(dependencies: Dependencies) {
  const { oneTimeCodes, firstLinkStore, accountStore, passkeys, audit, clock } = dependencies;

  return {
    /** Finds a link without using it, with its account; `isOpen` is false for one that was used or has expired. */
    async find(token: string): Promise<{ readonly account: Account; readonly isOpen: boolean } | null> {
      const link = await firstLinkStore.find(token);
      const account = link && (await accountStore.find(link.accountId));
      return account && { account, isOpen: isOpen(link) };
    },

    /**
     * Redeems the code and uses the link, once: the address that the person has proved to hold is the account's second
     * way in from now on.
     */
    async complete(tx: Tx, { signIn, code, ...administrator }: FirstAdministrator): Promise<FirstLinkOutcome> {
      const redeemed = await oneTimeCodes.redeem(tx, { ...codePlace(signIn, administrator.address), code });
      if (redeemed !== "good") return { outcome: "code-refused", why: redeemed };
      return use(tx, administrator, (account, by) => takeAddress(tx, by, account, administrator, dependencies));
    },

    /** Uses the link, once, with a passkey that is the account's second way in from now on. */
    completeByPasskey(
      tx: Tx,
      { made, name, ...first }: FirstPasskey,
    ): Promise<UseOutcome | Extract<Refusal, { outcome: "passkey-refused" }>> {
      return use(tx, first, async (account, by) => {
        const { outcome } = await passkeys.add(tx, account, name, made, by);
        return outcome === "added" ? null : { outcome: "passkey-refused" };
      });
    },
  };

  /** Uses an open link. `takeWay` gives its account the second way in, or says why not; then the link stays open. */
  async function use<Refused extends Refusal>(
    tx: Tx,
    { token, by: from }: Pick<FirstAdministrator, "token" | "by">,
    takeWay: (account: Account, by: Actor) => Promise<Refused | null>,
  ): Promise<UseOutcome | Refused> {
    const found = await firstLinkStore.find(token);
    const account = found && (await accountStore.lock(tx, found.accountId));
    const link = await firstLinkStore.lock(tx, token);
    if (!account || !link || !isOpen(link) || account.status !== "active") return { outcome: "first-link-ended" };
    const { id: accountId } = account;
    const by: Actor = { kind: "owner", accountId, ...from };
    const refused = await takeWay(account, by);
    if (refused) return refused;
    await firstLinkStore.markUsed(tx, link, clock.now());
    await audit.record(tx, by, { action: "sign_in", accountId });
    return { outcome: "signed-in", accountId };
  }

  function isOpen({ usedAt, expiresAt }: FirstLink): boolean {
    return usedAt === null && expiresAt > clock.now();
  }
}

/** Makes the address, which the person has proved to hold, that of the account, with their name. */
async function takeAddress(
  tx: Tx,
  by: Actor,
  account: Account,
  { address, name }: Pick<FirstAdministrator, "address" | "name">,
  { verifiedAddresses, accountStore, accountRecords, clock }: Dependencies,
): Promise<Extract<Refusal, { outcome: "address-taken" }> | null> {
  if ((await verifiedAddresses.holderOf(tx, address, account.id)) !== null) return { outcome: "address-taken" };
  const contact = { contactAddress: address, contactAddressVerified: true, pendingContactAddress: null };
  const changed = changedAccount(account, { ...account, displayName: name, ...contact }, clock.now());
  await accountStore.save(tx, changed.account);
  await accountRecords.changed(tx, by, "account.update", changed);
  await accountRecords.verified(tx, changed);
  return null;
}
