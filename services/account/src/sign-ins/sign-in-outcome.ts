import type { AccountState } from "@signalbox/contracts";
import type { Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import type { CredentialUse, Refusal } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { queueNotice } from "../notices/notices.ts";
import { browserNameOf, type KnownBrowser } from "./sign-in.ts";
import { recordRefusal } from "./sign-in-events.ts";

/** The browser that signs in, and what the audit says of it. */
export interface BrowserUse {
  readonly browser: KnownBrowser | null;
  readonly userAgent: string | undefined;
  readonly by: CredentialUse;
}

/** The deletion of an account, as its owner reads it. */
export interface Deletion {
  readonly at: Date;
  readonly reason: string | null;
}

/**
 * Returns true when a person may sign in to the account and use an earlier sign-in. Every edge enforces the limits of
 * the state: a suspended account can be read, a disabled one can ask for its recovery, and both need a token for it.
 */
export const maySignIn = (status: AccountState): boolean => status !== "deleted";

interface ClosedRefusal extends Omit<Refusal, "accountId" | "operation" | "reason" | "by"> {
  readonly by: CredentialUse;
}

/** Refuses and records the sign-in to an account that may not be used any more; null for one that may. */
export async function refuseClosed(
  service: AccountService,
  {
    id: accountId,
    status,
    statusChangedAt,
    statusReason,
  }: Pick<Account, "id" | "status" | "statusChangedAt" | "statusReason">,
  { by, ...refusal }: ClosedRefusal,
): Promise<({ readonly outcome: "account-deleted" } & Deletion) | null> {
  if (maySignIn(status)) return null;
  const owner = { kind: "owner", accountId, ...by } as const;
  await recordRefusal(service, { ...refusal, accountId, reason: `account_${status}`, by: owner });
  return { outcome: "account-deleted", at: statusChangedAt ?? service.clock.now(), reason: statusReason };
}

/** Tells the owner of the first sign-in with a browser. */
export async function tellOfBrowser(
  service: AccountService,
  tx: Tx,
  account: Parameters<typeof queueNotice>[2],
  { browser, userAgent, by }: BrowserUse,
): Promise<void> {
  if (browser?.knows(account.id)) return;
  const name = browserNameOf(userAgent) ?? "–";
  await queueNotice(service, tx, account, { kind: "browser-new", browser: name, address: by.address ?? "–" });
}
