import { parseIssuers } from "@signalbox/auth";
import { minutes } from "@signalbox/core";
import { type JobContext, withFirstAccount } from "./first-account.ts";
import { createFirstLinkStore, firstLinkPath, newFirstLink } from "./first-link/first-link.ts";
import { createPasskeyStore } from "./passkeys/passkey-store.ts";

const lifeMs = minutes(10);

/**
 * Creates a link that signs the first administrator in, once and within ten minutes; the earlier ones end. Returns its
 * address, which belongs to a terminal and never into a log; null where another issuer signs people in, or with
 * `onlyFirst` where the first administrator can sign in by mail or passkey already.
 */
export async function createFirstLink(
  context: JobContext,
  { onlyFirst = false }: { readonly onlyFirst?: boolean } = {},
): Promise<string | null> {
  const { configuration, clock } = context;
  if (parseIssuers(configuration.get("auth.issuers")).length > 0) return null;
  return withFirstAccount(context, "signalbox-first-link", async ({ tx, account, base, by }) => {
    const hasPasskey = async () => (await createPasskeyStore(base.pool).ofAccount(account.id, tx)).length > 0;
    if (onlyFirst && (account.contactAddressVerified || (await hasPasskey()))) return null;
    const { token, digest } = newFirstLink();
    const createdAt = clock.now();
    const expiresAt = new Date(createdAt.getTime() + lifeMs);
    const firstLinkStore = createFirstLinkStore(base.pool);
    await firstLinkStore.endOpen(tx, createdAt);
    await firstLinkStore.insert(tx, { digest, accountId: account.id, createdAt, expiresAt, usedAt: null });
    await base.audit.record(tx, by, { action: "account.create_first_link" });
    return `${configuration.get("http.base-url")}${firstLinkPath}/${token}`;
  });
}
