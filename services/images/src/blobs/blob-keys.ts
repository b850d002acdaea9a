import { type Rendition, renditionKey } from "@signalbox/imaging";

/** The bytes of an original: each account has its own, so that nobody learns what others have, and a purge takes what is its. */
export interface OriginalId {
  readonly accountId: string;
  readonly sha256: string;
}

const nameOf = ({ accountId, sha256 }: OriginalId): string => `${accountId}/${sha256}`;

/** Where an original's bytes are. */
export const originalKey = (original: OriginalId): string => `originals/${nameOf(original)}`;

/** What every rendition of an original is stored under. */
export const renditionPrefix = (original: OriginalId): string => `renditions/${nameOf(original)}/`;

/** Where one rendition of an original is; see `@signalbox/imaging`. */
export const keyOf = (original: OriginalId, rendition: Rendition): string => renditionKey(nameOf(original), rendition);
