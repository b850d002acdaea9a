import { createHash, randomBytes } from "node:crypto";
import { type Queryable, sql, type Tx, table } from "@signalbox/storage";
import { columns } from "../generated/columns.ts";

/** A link either confirms that its reader holds the address, or objects to the change of that address. */
type ContactLinkKind = "confirm" | "object";

export interface ContactLink {
  /** Counts up: of two objections the one with the lower id belongs to the earlier holder. */
  readonly id: bigint;
  readonly accountId: string;
  readonly kind: ContactLinkKind;
  /** The address it was sent to: the pending one, or the one that was in use. */
  readonly address: string;
  readonly expiresAt: Date;
  readonly usedAt: Date | null;
}

/**
 * Creates a token. It is part of a path, which request logs show, so it has the shape of our secrets (`sbx_…`), which
 * every log masks.
 */
export const newLinkToken = (): string => `sbx_link_${randomBytes(32).toString("base64url")}`;

/** Digests a token for the database. It has 256 random bits, so the digest cannot be reversed by guessing. */
export const digestLinkToken = (token: string): Buffer => createHash("sha256").update(token).digest();

export const linkPath = (token: string): string => `/api/account/contact-links/${token}`;

/**
 * The path at which the built-in issuer serves confirming links: below its own path the browser sends the session
 * cookie.
 */
export const confirmationPath = "/oauth/contact-links";

/** Returns true while the link is unused and not expired. */
export const isOpen = ({ usedAt, expiresAt }: ContactLink, now: Date): boolean => usedAt === null && expiresAt > now;

/** Omits `id`, which the database counts up. */
const links = table("contact_links", columns.contact_links, ["id"]);

const findLink = sql("contact-link.find", `select id, ${links.columns} from contact_links where digest = $1`);
const useLink = sql("contact-link.use", "update contact_links set used_at = $2 where id = $1");
const endConfirmations = sql(
  "contact-link.end-confirmations",
  "update contact_links set used_at = $2 where account_id = $1 and kind = 'confirm' and used_at is null",
);
const endLaterObjections = sql(
  "contact-link.end-later-objections",
  `update contact_links set used_at = $3
   where account_id = $1 and kind = 'object' and id > $2 and used_at is null`,
);

// Links in PostgreSQL. Writers lock the account first, so that ids follow the order of commits.

export async function insertContactLink(
  tx: Tx,
  digest: Buffer,
  link: Omit<ContactLink, "id" | "usedAt">,
): Promise<void> {
  await links.insert(tx, { ...link, digest, usedAt: null });
}

export async function findContactLink(db: Queryable, digest: Buffer): Promise<ContactLink | null> {
  return (await db.query<ContactLink>(findLink, [digest])).rows[0] ?? null;
}

export async function markContactLinkUsed(tx: Tx, { id }: ContactLink, at: Date): Promise<void> {
  await tx.query(useLink, [id, at]);
}

/** Ends every link that confirms: the code was used, or no address is pending any more. */
export async function endConfirmationLinks(tx: Tx, accountId: string, at: Date): Promise<void> {
  await tx.query(endConfirmations, [accountId, at]);
}

/** Ends the objections of those who held the account's address after the holder of this link. */
export async function endLaterObjectionLinks(tx: Tx, { accountId, id }: ContactLink, at: Date): Promise<void> {
  await tx.query(endLaterObjections, [accountId, id, at]);
}
