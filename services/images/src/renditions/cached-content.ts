import type { IncomingMessage } from "node:http";
import { bytes, isNotModified, type KnownAnswer, notModified } from "@signalbox/http";
import { outputTraits, type Rendition, renditionTag } from "@signalbox/imaging";
import { keyOf } from "../blobs/blob-keys.ts";
import type { ImagesService } from "../context/images-service.ts";
import { signatureSecondsLeft } from "../signing/signed-urls.ts";
import type { CachedContent, ContentDescription, ValidSignature } from "../state/content-cache.ts";
import { cacheControl, contentHeaders, type Shown } from "../state/content-headers.ts";
import type { ContentQuery } from "../state/content-query.ts";
import type { Image } from "../state/image.ts";
import type { WantedForm } from "../transformations/transformations.ts";
import { stillShows, type Viewer } from "./content-access.ts";

/**
 * Finds the answer to a request in what was shown under its URL: most requests of a page are answered so. A cached answer
 * holds as long as the copy of its record, so that a change is seen as soon as without it: at once in this process,
 * within a second in others. What the caller decides, the end of a signature and the state of the owner are judged each
 * time.
 */
export function answerFromCache(service: ImagesService, request: IncomingMessage): KnownAnswer | null {
  const { renditionMemory, contentCache } = service;
  if (!request.url?.startsWith("/images/")) return null;
  const found = contentCache.find(request);
  if (found === null) return null;
  if (!isCurrent(service, found)) {
    contentCache.forget(request);
    return null;
  }
  const isUnchanged = isNotModified(request, found.description.etag);
  const content = isUnchanged ? undefined : renditionMemory.bytes.get(found.renditionKey);
  return content || isUnchanged ? answerOf(service, found, request.method, content) : null;
}

function isCurrent(
  { imageStore, transformationStore }: ImagesService,
  { image, transformations }: CachedContent,
): boolean {
  return (
    imageStore.isCurrent(image) && (!transformations || transformationStore.isCurrent(image.accountId, transformations))
  );
}

function answerOf(
  service: ImagesService,
  found: CachedContent,
  method: string | undefined,
  content: Buffer | undefined,
): KnownAnswer {
  const { image, signature, shown, description } = found;
  const { format } = shown;
  return {
    isFor: (principal) => stillShows(service, found, principal),
    answer() {
      const cache = signature === null ? description.cache : cacheUntilEnd(service, shown, signature);
      const about = { ...description, cache };
      const answer = content ? bytes(content, outputTraits[format].mimeType, about) : notModified(about.etag, about);
      return service.imageStatistics.counted(image.accountId, format, method, answer);
    },
  };
}

/** Builds the cache directives of a signed URL, which end with its signature. */
function cacheUntilEnd(service: ImagesService, shown: Shown, signature: ValidSignature): string {
  return cacheControl({ ...shown, reach: { secondsLeft: signatureSecondsLeft(service, signature) } });
}

/** A rendition that was chosen for a request, with everything that decided about it. */
interface ChosenContent {
  readonly image: Image;
  readonly viewer: Viewer;
  readonly query: ContentQuery;
  readonly wanted: WantedForm;
  readonly rendition: Rendition;
  /** A better format in the making. */
  readonly later: Rendition | null;
}

/** Builds the validator and the headers of content, and remembers them for requests like this one. */
export function describeContent(
  service: ImagesService,
  { image, viewer, query, wanted, rendition, later }: ChosenContent,
  request: IncomingMessage,
): ContentDescription {
  const { configuration, contentCache } = service;
  const { signature, reach } = viewer;
  const shown = {
    image,
    reach,
    format: rendition.format,
    isNegotiated: wanted.form.format === "auto",
    later: later?.format ?? null,
    isVersioned: query.v === wanted.version,
    cacheSeconds: configuration.get(`images.cache.${image.visibility}`),
  };
  const renditionKey = keyOf(image, rendition);
  const description = { etag: renditionTag(renditionKey), ...contentHeaders(shown) };
  const { from: transformations } = wanted;
  const content = { image, query, transformations, signature, renditionKey, shown, description };
  // Where a better format is in the making, the next request may get it; an overlay may be deleted before it.
  if (!later && wanted.form.overlay === undefined) contentCache.remember(request, content);
  return description;
}
