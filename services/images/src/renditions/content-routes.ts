import type { Principal } from "@signalbox/auth";
import { imageExample } from "@signalbox/contracts";
import {
  bytes,
  createRoutes,
  type HttpResponse,
  isNotModified,
  notModified,
  queryTextOf,
  type RouteInput,
  refused,
  stream,
} from "@signalbox/http";
import { outputFormats, outputTraits, type Rendition, renditionTag } from "@signalbox/imaging";
import { keyOf } from "../blobs/blob-keys.ts";
import type { Image } from "../images/image.ts";
import type { ImageStore } from "../images/image-store.ts";
import { versionOf } from "../images/image-view.ts";
import type { SignedUrls } from "../signing/signed-urls.ts";
import { contentRange, outOfRange, partOf } from "./byte-range.ts";
import { sideMax } from "./choose-rendition.ts";
import { contentHeaders, type Reach } from "./content-headers.ts";
import { ContentQuery } from "./content-query.ts";
import { mayTransform, type PublicTransforms } from "./public-transforms.ts";
import type { RenderBudget } from "./render-budget.ts";
import type { TermsOf } from "./render-terms.ts";
import type { Renderer, RenditionContent } from "./renderer.ts";
import type { Renditions } from "./renditions.ts";

interface Dependencies {
  readonly imageStore: ImageStore;
  readonly renditions: Renditions;
  readonly renderer: Renderer;
  readonly renderBudget: RenderBudget;
  readonly publicTransforms: () => PublicTransforms;
  readonly signedUrls: SignedUrls;
  readonly maySign: () => boolean;
  readonly isDeleted: (accountId: string) => boolean;
  readonly termsOf: TermsOf;
  readonly cacheSeconds: (visibility: Image["visibility"]) => number;
}

/** The rate limit of callers without credentials: a page full of pictures makes many requests. */
export const publicContentPolicy = "public-content";

const contentTypes = outputFormats.map((format) => outputTraits[format].mimeType);
/** Time after which missing bytes may be requested again. */
const retryAfterSeconds = 5;

type Input = RouteInput<Principal | null, { readonly image_id: string }, ContentQuery>;

/** The routes of image content: re-encoded, for everyone with access. */
export function contentRoutes(dependencies: Dependencies) {
  const routes = createRoutes({ errors: "image", exampleIds: { image_id: imageExample.id } });
  const content = { content: contentTypes };

  routes.get("/images/:image_id/content", {
    operationId: "imageContent",
    summary: "Show an image",
    description:
      "Always a re-encode: oriented, in sRGB, without metadata. Public images need no credentials. The validator is computed without the bytes.",
    auth: { scopes: ["images:read"], optional: true },
    anonymousRateLimit: publicContentPolicy,
    query: ContentQuery,
    ownNegotiation: true,
    responses: {
      ...{ 200: content, 206: content, 400: "error", 403: "error", 404: "error", 406: "error" },
      ...{ 416: "error", 422: "error", 429: "error", 503: "error" },
    },
    handle: (input) => showContent(dependencies, input),
  });

  return routes;
}

async function showContent(dependencies: Dependencies, input: Input): Promise<HttpResponse> {
  const { principal, params, query } = input;
  if (query.signature !== undefined) return showSigned(dependencies, input, query.signature);
  const image = await dependencies.imageStore.find(params.image_id);
  const isVisible = image !== null && maySee(dependencies, image, principal);
  if (isVisible) {
    const isOwner = principal?.accountId === image.accountId;
    if (!isOwner && !mayTransform(dependencies.publicTransforms(), query)) return unnamedForm();
    return show(dependencies, input, image, { reach: image.visibility, isOnBudget: !isOwner });
  }
  // Without credentials a missing and a private image look the same.
  if (principal === null && image?.visibility !== "public") return refused(401, "unauthorized");
  return refused(404, "not_found");
}

/** Only the signature decides: caches do not know other credentials of the request. */
async function showSigned(dependencies: Dependencies, input: Input, signature: string): Promise<HttpResponse> {
  const { imageStore, signedUrls, isDeleted, maySign } = dependencies;
  const { params, request } = input;
  if (!maySign()) return refused(403, "forbidden", { message: "Signed URLs are switched off." });
  const verdict = await signedUrls.judge(params.image_id, signature, queryTextOf(request.url ?? ""));
  if (verdict.outcome === "expired") return refused(403, "forbidden", { message: "The signed URL has expired." });
  if (verdict.outcome === "invalid") return refused(403, "forbidden", { message: "The signature is not valid." });
  const image = await imageStore.find(params.image_id);
  if (image?.accountId !== verdict.accountId || isDeleted(image.accountId)) return refused(404, "not_found");
  return show(dependencies, input, image, { reach: verdict, isOnBudget: false });
}

function unnamedForm(): HttpResponse {
  const message =
    "The image is shown without credentials in its named variants and documented widths only. Any other form needs a signed URL.";
  return refused(403, "forbidden", { message });
}

/** Returns false for another account's private image and a public one of a deleted account; both read as missing. */
function maySee({ isDeleted }: Dependencies, image: Image, principal: Principal | null): boolean {
  if (principal?.accountId === image.accountId) return true;
  return image.visibility === "public" && !isDeleted(image.accountId);
}

/** The audience of an image, and whether new renditions count against its owner's budget. */
interface Viewer {
  readonly reach: Reach;
  readonly isOnBudget: boolean;
}

async function show(dependencies: Dependencies, input: Input, image: Image, viewer: Viewer): Promise<HttpResponse> {
  const { query, headers, log } = input;
  const { reach, isOnBudget } = viewer;
  const { renditions, renderer, renderBudget, termsOf, cacheSeconds } = dependencies;
  const choice = await renditions.choose(image, query, headers.accept);
  if (choice.outcome === "not-acceptable") {
    return refused(406, "not_acceptable", { message: `The image can be had as ${contentTypes.join(", ")}.` });
  }
  if (choice.outcome === "too-large") return tooLarge(choice.field);
  if (choice.outcome === "only-later") return showLater(dependencies, image, choice.rendition, viewer);
  const { rendition, later } = choice;
  if (later && (!isOnBudget || renderBudget.isLeft(image.accountId))) {
    requestLater(dependencies, image, later, viewer).catch((error: unknown) =>
      log.warn({ error }, "requesting a rendition failed"),
    );
  }

  const etag = renditionTag(keyOf(image, rendition));
  const about = {
    etag,
    ...contentHeaders({
      ...{
        image,
        reach,
        format: rendition.format,
        isNegotiated: query.format === "auto",
        later: later?.format ?? null,
      },
      isVersioned: query.v !== undefined && query.v === versionOf(image),
      cacheSeconds: cacheSeconds(image.visibility),
    }),
  };
  if (isNotModified({ headers }, etag)) return notModified(etag, about);
  const content = await renderer.obtain(image, rendition, termsOf(input), viewer);
  if (content.kind === "later") return showLater(dependencies, image, rendition, viewer);
  return showBytes(content, input, { ...about, contentType: outputTraits[rendition.format].mimeType });
}

interface About {
  readonly etag: string;
  readonly cache: string;
  readonly headers: Record<string, string>;
  readonly contentType: string;
}

/** Answers the whole content, or the requested part. */
async function showBytes(
  content: Exclude<RenditionContent, { kind: "later" }>,
  { headers }: Input,
  { contentType, ...about }: About,
): Promise<HttpResponse> {
  const size = content.kind === "bytes" ? content.bytes.length : content.size;
  const part = partOf(headers, about.etag, size);
  if (part === null) {
    if (content.kind === "bytes") return bytes(content.bytes, contentType, about);
    return stream(await content.open(), { ...about, contentType, length: size });
  }
  if (part === "unsatisfiable") {
    if (content.kind === "stored") content.leave();
    return outOfRange(size);
  }
  const partial = { ...about, status: 206, headers: { ...about.headers, ...contentRange(part, size) } };
  const length = part.end - part.start + 1;
  return content.kind === "bytes"
    ? bytes(content.bytes.subarray(part.start, part.end + 1), contentType, partial)
    : stream(await content.open(part), { ...partial, contentType, length });
}

function tooLarge(field: "enlarge" | "dpr"): HttpResponse {
  const message = `An image may be asked for with ${sideMax} pixels on each side, as \`${field}\` makes it.`;
  const details = [{ field, code: "out_of_range", message }] as const;
  return refused(400, "invalid_request", { message, details });
}

/** Has the worker make a rendition that would keep the caller waiting for too long, once. */
async function showLater(
  dependencies: Dependencies,
  image: Image,
  rendition: Rendition,
  viewer: Viewer,
): Promise<HttpResponse> {
  const { renditions, renderBudget } = dependencies;
  if (await renditions.isRefused(image, rendition)) {
    return refused(422, "validation_error", { message: "The image could not be made in this form." });
  }
  if (viewer.isOnBudget) renderBudget.requireLeft(image.accountId);
  await requestLater(dependencies, image, rendition, viewer);
  return refused(503, "unavailable", { message: "The image is being made in this form.", retryAfterSeconds });
}

/** Requests a rendition from the worker and charges it to the budget, once. */
async function requestLater(
  { renditions, renderer, renderBudget }: Dependencies,
  image: Image,
  rendition: Rendition,
  { isOnBudget }: Viewer,
): Promise<void> {
  const isFirst = await renditions.request(image, rendition);
  if (isFirst && isOnBudget) renderBudget.spend(image.accountId, renderer.expectMs(image, rendition));
}
