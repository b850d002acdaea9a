import type { Principal } from "@signalbox/auth";
import { mayTransform } from "@signalbox/imaging";
import type { ImagesService } from "../context/images-service.ts";
import { judgeSignature, type SignatureVerdict, signatureSecondsLeft } from "../signing/signed-urls.ts";
import type { ValidSignature } from "../state/content-cache.ts";
import type { Reach } from "../state/content-headers.ts";
import type { ContentQuery } from "../state/content-query.ts";
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
  | { readonly outcome: "unsigned-overlay" }
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
    // An overlay shows the pixels of another image, which may be private.
    if (!isOwner && query.overlay !== undefined) return { outcome: "unsigned-overlay" };
    if (!isOwner && !mayTransform(allowed, query)) return { outcome: "unnamed-form" };
    return { outcome: "seen", image, viewer: { reach: image.visibility, isOnBudget: !isOwner, signature: null } };
  }
  // Without credentials a missing and a private image look the same.
  const isHidden = principal === null && image?.visibility !== "public";
  return { outcome: isHidden ? "unauthorized" : "missing" };
}

const isOwnerDeleted = ({ accessStates }: ImagesService, { accountId }: Image): boolean =>
  accessStates.stateOf(accountId)?.state === "deleted";
