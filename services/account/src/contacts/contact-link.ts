import { createHash, randomBytes } from "node:crypto";
import type { Account } from "../accounts/account.ts";

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

/** Names an account to a reader who may not be its owner: its name, and a hint of its verified address. */
export function labelOf({ displayName, contactAddress, contactAddressVerified }: Account): string {
  const hint = contactAddress !== null && contactAddressVerified ? ` (${hintOf(contactAddress)})` : "";
  return `“${displayName}”${hint}`;
}

/** Shortens an address so that its holder recognises it, and no other reader can write to it. */
export function hintOf(address: string): string {
  const at = address.lastIndexOf("@");
  return `${[...address][0]}…${address.slice(at)}`;
}
