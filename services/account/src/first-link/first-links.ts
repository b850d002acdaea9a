import type { Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { accountContactVerified } from "../accounts/account-events.ts";
import { holderOfAddress } from "../accounts/account-store.ts";
import { changedAccount } from "../accounts/change-account.ts";
import { type Actor, recordAccountChange } from "../audit/audit-log.ts";
import type { RefusedCode } from "../codes/code-answers.ts";
import { redeemCode } from "../codes/one-time-codes.ts";
import type { AccountService } from "../context/account-service.ts";
import type { NewPasskey } from "../passkeys/ceremonies.ts";
import { addPasskey } from "../passkeys/passkeys.ts";
import { recordSignIn, type SuccessfulSignIn } from "../sign-ins/sign-in-events.ts";
import { codePlace, type TypedCode } from "../sign-ins/sign-ins.ts";
import { type FirstLink, findFirstLink, lockFirstLink, markFirstLinkUsed } from "./first-link.ts";

/** A code typed by a person who follows the link, with the name that they have typed before. */
interface FirstAdministrator extends Omit<TypedCode, "name"> {
  readonly token: string;
  readonly name: string;
}

/** A verified passkey of a person who follows the link. */
interface FirstPasskey extends Omit<SuccessfulSignIn, "accountId" | "method"> {
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

export type FirstPasskeyOutcome = UseOutcome | Extract<Refusal, { outcome: "passkey-refused" }>;

/** Finds a link without using it, with its account; `isOpen` is false for one that was used or has expired. */
export async function lookUpFirstLink(
  service: AccountService,
  token: string,
): Promise<{ readonly account: Account; readonly isOpen: boolean } | null> {
  const link = await findFirstLink(service.pool, token);
  const account = link && (await service.accountStore.find(link.accountId));
  return account && { account, isOpen: isOpen(service, link) };
}

/**
 * Redeems the code and uses the link, once: the address that the person has proved to hold is the account's second
 * way in from now on.
 */
export async function completeFirstLink(
  service: AccountService,
  tx: Tx,
  administrator: FirstAdministrator,
): Promise<FirstLinkOutcome> {
  const { signIn, address, code, token } = administrator;
  const redeemed = await redeemCode(service, tx, { ...codePlace(signIn, address), code });
  if (redeemed !== "good") return { outcome: "code-refused", why: redeemed };
  return useFirstLink(service, tx, token, { ...administrator, method: "code" }, (account, by) =>
    takeAddress(service, tx, by, account, administrator),
  );
}

/** Uses the link, once, with a passkey that is the account's second way in from now on. */
export function completeFirstLinkByPasskey(
  service: AccountService,
  tx: Tx,
  { token, made, name, ...browser }: FirstPasskey,
): Promise<FirstPasskeyOutcome> {
  return useFirstLink(service, tx, token, { ...browser, method: "passkey" }, async (account, by) => {
    const { outcome } = await addPasskey(service, tx, account, name, made, by);
    return outcome === "added" ? null : { outcome: "passkey-refused" };
  });
}

/** Uses an open link. `takeWay` gives its account the second way in, or says why not; then the link stays open. */
async function useFirstLink<Refused extends Refusal>(
  service: AccountService,
  tx: Tx,
  token: string,
  { by: from, method, userAgent }: Omit<SuccessfulSignIn, "accountId">,
  takeWay: (account: Account, by: Actor) => Promise<Refused | null>,
): Promise<UseOutcome | Refused> {
  const { pool, accountStore, clock } = service;
  const found = await findFirstLink(pool, token);
  const account = found && (await accountStore.lock(tx, found.accountId));
  const link = await lockFirstLink(tx, token);
  if (!account || !link || !isOpen(service, link) || account.status !== "active")
    return { outcome: "first-link-ended" };
  const { id: accountId } = account;
  const by: Actor = { kind: "owner", accountId, ...from };
  const refused = await takeWay(account, by);
  if (refused) return refused;
  await markFirstLinkUsed(tx, link, clock.now());
  await recordSignIn(service, tx, { accountId, method, userAgent, by: from });
  return { outcome: "signed-in", accountId };
}

function isOpen({ clock }: AccountService, { usedAt, expiresAt }: FirstLink): boolean {
  return usedAt === null && expiresAt > clock.now();
}

/** Makes the address, which the person has proved to hold, that of the account, with their name. */
async function takeAddress(
  service: AccountService,
  tx: Tx,
  by: Actor,
  account: Account,
  { address, name }: FirstAdministrator,
): Promise<Extract<Refusal, { outcome: "address-taken" }> | null> {
  if ((await holderOfAddress(tx, address, account.id)) !== null) return { outcome: "address-taken" };
  const contact = { contactAddress: address, contactAddressVerified: true, pendingContactAddress: null };
  const changed = changedAccount(account, { ...account, displayName: name, ...contact }, service.clock.now());
  await service.accountStore.save(tx, changed.account);
  await recordAccountChange(service, tx, by, "account.update", changed);
  await service.outbox.append(tx, [accountContactVerified(changed)]);
  return null;
}
