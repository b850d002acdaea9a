import { minutes } from "@signalbox/core";
import { recordInAudit } from "./audit/audit-log.ts";
import { type JobContext, withFirstAccount } from "./first-account.ts";
import { endOpenFirstLinks, firstLinkPath, insertFirstLink, newFirstLink } from "./first-link/first-link.ts";
import { passkeysOf } from "./passkeys/passkey-store.ts";

const lifeMs = minutes(10);

/**
 * Creates a link that signs the first administrator in, once and within ten minutes; the earlier ones end. Returns its
 * address, which belongs to a terminal and never into a log; null where the built-in issuer is off, or with
 * `onlyFirst` where the first administrator can sign in by mail or passkey already. `masked` creates none, and returns
 * the address without the secret part, for a log.
 */
export async function createFirstLink(
  context: JobContext,
  { onlyFirst = false, masked = false }: { readonly onlyFirst?: boolean; readonly masked?: boolean } = {},
): Promise<string | null> {
  const { configuration, clock } = context;
  if (!configuration.get("account.issuer.enabled")) return null;
  return withFirstAccount(context, "signalbox-first-link", async ({ tx, account, service, by }) => {
    const hasPasskey = async () => (await passkeysOf(tx, account.id)).length > 0;
    if (onlyFirst && (account.contactAddressVerified || (await hasPasskey()))) return null;
    const url = `${configuration.get("http.base-url")}${firstLinkPath}`;
    if (masked) return `${url}/sbx_link_…`;
    const { token, digest } = newFirstLink();
    const createdAt = clock.now();
    const expiresAt = new Date(createdAt.getTime() + lifeMs);
    await endOpenFirstLinks(tx, createdAt);
    await insertFirstLink(tx, { digest, accountId: account.id, createdAt, expiresAt, usedAt: null });
    await recordInAudit(service, tx, by, { action: "account.create_first_link" });
    return `${url}/${token}`;
  });
}
