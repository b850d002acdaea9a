import type { Principal } from "@signalbox/auth";
import { namedBoxes } from "@signalbox/imaging";
import type { ImagesService } from "../context/images-service.ts";
import { judgeSignature, type SignatureVerdict, signatureSecondsLeft } from "../signing/signed-urls.ts";
import type { ValidSignature } from "../state/content-cache.ts";
import type { Reach } from "../state/content-headers.ts";
import { ContentQuery } from "../state/content-query.ts";
import type { Image } from "../state/image.ts";

/** A request for content, before anybody knows if it is allowed. */
interface Asking {
  readonly principal: Principal | null;
  readonly imageId: string;
  readonly query: ContentQuery;
  /** The query as it was sent, which a signature is about. */
  readonly queryText: string;
}

/** The audience of an image, and whether new renditions count against its owner's budget. */
export interface Viewer {
  readonly reach: Reach;
  readonly isOnBudget: boolean;
  /** The signature by which the image is seen, if any. */
  readonly signature: ValidSignature | null;
}

export type Access =
  | { readonly outcome: "seen"; readonly image: Image; readonly viewer: Viewer }
  /** Missing, or private and somebody else's. */
  | { readonly outcome: "missing" }
  /** Missing or private, for a caller without credentials. */
  | { readonly outcome: "unauthorized" }
  | { readonly outcome: "unnamed-form" }
  | Exclude<SignatureVerdict, { outcome: "valid" }>;

/** Decides who sees the content of an image: its owner, the bearer of a signed URL, and everyone if it is public. */
export async function judgeAccess(service: ImagesService, asking: Asking): Promise<Access> {
  const { signature } = asking.query;
  if (signature !== undefined) return judgeSigned(service, signature, asking);
  const image = await service.imageStore.find(asking.imageId);
  return judgeCaller(service, image, asking.query, asking.principal);
}

/** An image that was shown, with what decided about it besides the caller. */
interface SeenContent {
  readonly image: Image;
  readonly query: ContentQuery;
  readonly signature: ValidSignature | null;
}

/** Returns true when `judgeAccess` would show this caller what it showed of a URL, as long as the record is current. */
export function stillShows(service: ImagesService, seen: SeenContent, principal: Principal | null): boolean {
  const { image, query, signature } = seen;
  if (signature === null) return judgeCaller(service, image, query, principal).outcome === "seen";
  return !isOwnerDeleted(service, image) && signatureSecondsLeft(service, signature) > 0;
}

/** Only the signature decides: caches do not know other credentials of the request. */
async function judgeSigned(service: ImagesService, signature: string, asking: Asking): Promise<Access> {
  const { imageId, queryText } = asking;
  const verdict = await judgeSignature(service, imageId, signature, queryText);
  if (verdict.outcome !== "valid") return verdict;
  const image = await service.imageStore.find(imageId);
  if (image?.accountId !== verdict.accountId || isOwnerDeleted(service, image)) return { outcome: "missing" };
  return { outcome: "seen", image, viewer: { reach: verdict, isOnBudget: false, signature: verdict } };
}

function judgeCaller(
  service: ImagesService,
  image: Image | null,
  query: ContentQuery,
  principal: Principal | null,
): Access {
  const isOwner = image !== null && principal?.accountId === image.accountId;
  // A public image of a deleted account reads as missing, like another account's private one.
  if (image && (isOwner || (image.visibility === "public" && !isOwnerDeleted(service, image)))) {
    const allowed = service.configuration.get("images.public.transforms");
    if (!isOwner && !mayTransform(allowed, query)) return { outcome: "unnamed-form" };
    return { outcome: "seen", image, viewer: { reach: image.visibility, isOnBudget: !isOwner, signature: null } };
  }
  // Without credentials a missing and a private image look the same.
  const isHidden = principal === null && image?.visibility !== "public";
  return { outcome: isHidden ? "unauthorized" : "missing" };
}

const isOwnerDeleted = ({ accessStates }: ImagesService, { accountId }: Image): boolean =>
  accessStates.stateOf(accountId)?.state === "deleted";

/** The forms in which a public image is shown to callers without its owner's credentials or a signed URL. */
export type PublicTransforms = "any" | "named" | "signed";

/** The widths that pages may choose from when not every width is allowed. */
export const widthLadder: readonly number[] = [
  ...[64, 128, 256, 384, 480, 640, 750, 828, 960, 1080, 1200, 1600, 1920, 2048, 2560, 3840],
];

/**
 * Returns true when a public image may be requested in this form. The `url` and the `variants` of its record are always
 * allowed.
 */
export function mayTransform(allowed: PublicTransforms, query: ContentQuery): boolean {
  if (allowed === "any") return true;
  if (!isPlain(query)) return false;
  if (allowed === "named") return isOfRecord(query) || isOnLadder(query);
  return isOfRecord(query) && query.format === "auto";
}

const nothingAsked = ContentQuery.parse({});
const sizing: ReadonlySet<string> = new Set(["width", "height", "fit", "format", "v", "signature"]);

/** Returns true for a query with only a size and a format. */
const isPlain = ({ dpr = 1, ...given }: ContentQuery): boolean =>
  dpr === 1 &&
  Object.entries(given).every(
    ([name, value]) => sizing.has(name) || value === nothingAsked[name as keyof ContentQuery],
  );

function isOfRecord({ fit, ...given }: ContentQuery): boolean {
  const [width, height] = [given.width ?? null, given.height ?? null];
  if (width === null && height === null) return fit === "inside";
  return Object.values(namedBoxes).some((box) => box.width === width && box.height === height && box.fit === fit);
}

function isOnLadder({ width, height, fit }: ContentQuery): boolean {
  return width !== undefined && widthLadder.includes(width) && height === undefined && fit === "inside";
}
