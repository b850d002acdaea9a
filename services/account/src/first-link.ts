import { parseIssuers } from "@signalbox/auth";
import { minutes } from "@signalbox/core";
import { recordInAudit } from "./audit/audit-log.ts";
import { type JobContext, withFirstAccount } from "./first-account.ts";
import { endOpenFirstLinks, firstLinkPath, insertFirstLink, newFirstLink } from "./first-link/first-link.ts";
import { passkeysOf } from "./passkeys/passkey-store.ts";

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
  return withFirstAccount(context, "signalbox-first-link", async ({ tx, account, service, by }) => {
    const hasPasskey = async () => (await passkeysOf(tx, account.id)).length > 0;
    if (onlyFirst && (account.contactAddressVerified || (await hasPasskey()))) return null;
    const { token, digest } = newFirstLink();
    const createdAt = clock.now();
    const expiresAt = new Date(createdAt.getTime() + lifeMs);
    await endOpenFirstLinks(tx, createdAt);
    await insertFirstLink(tx, { digest, accountId: account.id, createdAt, expiresAt, usedAt: null });
    await recordInAudit(service, tx, by, { action: "account.create_first_link" });
    return `${configuration.get("http.base-url")}${firstLinkPath}/${token}`;
  });
}
