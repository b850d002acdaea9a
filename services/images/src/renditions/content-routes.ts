import type { Principal } from "@signalbox/auth";
import { imageExample } from "@signalbox/contracts";
import type { DetailCode } from "@signalbox/core";
import {
  bytes,
  contentRange,
  createRoutes,
  disposition,
  type HttpResponse,
  isNotModified,
  type KnownAnswers,
  notModified,
  outOfRange,
  partOf,
  queryTextOf,
  type RouteInput,
  type Routes,
  refused,
  stream,
} from "@signalbox/http";
import { outputFormats, outputTraits, type Rendition, sideMax, strayParameter } from "@signalbox/imaging";
import { originalKey } from "../blobs/blob-keys.ts";
import type { ImagesService } from "../context/images-service.ts";
import type { ContentDescription } from "../state/content-cache.ts";
import { ContentQuery, contentParameters, strayMessage, trackingParameters } from "../state/content-query.ts";
import type { Image } from "../state/image.ts";
import { type WantedForm, wantedForm } from "../transformations/transformations.ts";
import { answerFromCache, describeContent } from "./cached-content.ts";
import { type Access, judgeAccess, type Viewer } from "./content-access.ts";
import { expectedMs } from "./make-rendition.ts";
import { obtainRendition } from "./obtain-rendition.ts";
import { jobTerms } from "./render-terms.ts";
import { chooseContent, isRefused, requestRendition } from "./renditions.ts";
import type { RenditionContent } from "./stored-renditions.ts";

/** The rate limit of callers without credentials: a page full of pictures makes many requests. */
export const publicContentPolicy = "public-content";

const contentTypes = outputFormats.map((format) => outputTraits[format].mimeType);
/** Time after which missing bytes may be requested again. */
const retryAfterSeconds = 5;

type Input = RouteInput<Principal | null, { readonly image_id: string }, ContentQuery>;

/** The routes of an image's bytes: as a rendition for everyone with access, as uploaded for its owner. */
export function contentRoutes(service: ImagesService): Routes {
  const routes = createRoutes({ errors: "image", exampleIds: { image_id: imageExample.id } });
  const content = { content: contentTypes };
  const file = { content: ["application/octet-stream"] };
  const known: KnownAnswers = { find: (request) => answerFromCache(service, request) };

  routes.get("/images/:image_id/content", {
    operationId: "imageContent",
    summary: "Show an image",
    description:
      "Oriented, in sRGB, without metadata: re-encoded, or with the original's pixel data where that is smaller. Public images need no credentials. The entity tag is computed without the bytes.",
    auth: { scopes: ["images:read"], optional: true },
    anonymousRateLimit: publicContentPolicy,
    query: ContentQuery,
    ignoredQuery: trackingParameters,
    ownNegotiation: true,
    responses: { 200: content, 206: content, 416: "error", 422: "error" },
    known,
    handle: (input) => showContent(service, input),
  });

  routes.get("/images/:image_id/original", {
    operationId: "imageOriginal",
    summary: "Download the original",
    description: "The file as it was uploaded, metadata included; for its owner, and never shown inline.",
    auth: { scopes: ["images:read"] },
    responses: { 200: file, 206: file, 416: "error" },
    handle: (input) => showOriginal(service, input),
  });

  return routes;
}

async function showContent(service: ImagesService, input: Input): Promise<HttpResponse> {
  const { principal, params, query, request } = input;
  const queryText = queryTextOf(request.url ?? "");
  const stray = query.transformation === undefined ? undefined : strayParameter(contentParameters(queryText).keys());
  if (stray !== undefined) return wrongParameter(stray, "not_allowed", strayMessage);
  const asking = { principal, imageId: params.image_id, query, queryText };
  const access = await judgeAccess(service, asking);
  if (access.outcome !== "seen") return refused(...refusals[access.outcome]);
  const { image, viewer } = access;
  const wanted = await wantedForm(service, image, query, queryText);
  return wanted ? show(service, input, wanted, image, viewer) : unknownTransformation;
}

/** The refusal of each outcome without content. */
const refusals: Readonly<Record<Exclude<Access["outcome"], "seen">, Parameters<typeof refused>>> = {
  missing: [404, "not_found"],
  unauthorized: [401, "unauthorized"],
  "unnamed-form": forbidden(
    "Without credentials the image is only served in its named variants and the documented widths. Any other rendition needs a signed URL.",
  ),
  "unsigned-overlay": forbidden("Only the owner sees an image with an overlay. Anybody else needs a signed URL."),
  "switched-off": forbidden("Signed URLs are switched off."),
  expired: forbidden("The signed URL has expired."),
  "too-far-away": forbidden(
    "The signed URL expires more than eight days from now, the longest that your key may sign.",
  ),
  invalid: forbidden("The signature is not valid."),
};

function forbidden(message: string): Parameters<typeof refused> {
  return [403, "forbidden", { message }];
}

async function show(
  service: ImagesService,
  input: Input,
  wanted: WantedForm,
  image: Image,
  viewer: Viewer,
): Promise<HttpResponse> {
  const { query, headers, request, log } = input;
  const { renderBudget, imageStatistics } = service;
  const choice = await chooseContent(service, image, wanted, headers.accept);
  if (choice.outcome === "not-acceptable") {
    return refused(406, "not_acceptable", { message: `The image is available as ${contentTypes.join(", ")}.` });
  }
  if (choice.outcome === "too-large") return tooLarge(query, choice.field);
  if (choice.outcome === "outside") return outside(query, choice.field, image);
  if (choice.outcome === "only-later") return showLater(service, image, choice.rendition, viewer);
  const { rendition, later } = choice;
  if (later && (!viewer.isOnBudget || renderBudget.isLeft(image.accountId))) {
    requestLater(service, image, later, viewer).catch((error: unknown) =>
      log.warn({ error }, "requesting a rendition failed"),
    );
  }

  const about = describeContent(service, { image, viewer, query, wanted, rendition, later }, request);
  const { format } = rendition;
  if (isNotModified({ headers }, about.etag)) {
    return imageStatistics.counted(image.accountId, format, request.method, notModified(about.etag, about));
  }
  const content = await obtainRendition(service, image, rendition, jobTerms(service, input), viewer);
  if (content.kind === "later") return showLater(service, image, rendition, viewer);
  const answer = await showBytes(content, input, { ...about, contentType: outputTraits[format].mimeType });
  return imageStatistics.counted(image.accountId, format, request.method, answer);
}

/** Answers the whole content, or the requested part. */
async function showBytes(
  content: Exclude<RenditionContent, { kind: "later" }>,
  { headers }: Input,
  { contentType, ...about }: ContentDescription & { readonly contentType: string },
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

function wrongParameter(field: string, code: DetailCode, message: string): HttpResponse {
  return refused(400, "invalid_request", { message, details: [{ field, code, message }] });
}

const unknownTransformation = wrongParameter(
  "transformation",
  "invalid_value",
  "The owner of the image has no transformation with this name.",
);

/** Returns the parameter that asked for this member of the form. */
const askedBy = ({ transformation, dpr }: ContentQuery, member: string): string =>
  transformation === undefined || (member === "dpr" && dpr !== undefined) ? member : "transformation";

function tooLarge(query: ContentQuery, member: "enlarge" | "dpr"): HttpResponse {
  const message = `An image may have at most ${sideMax} pixels on each side, which \`${member}\` exceeds.`;
  return wrongParameter(askedBy(query, member), "out_of_range", message);
}

function outside(
  query: ContentQuery,
  member: "crop" | "frame" | "overlay",
  { width, height, frames }: Image,
): HttpResponse {
  const message = {
    crop: `The crop must begin within the ${width}×${height} pixels of the image.`,
    frame: `The image has ${frames === 1 ? "one frame" : `${frames} frames`}.`,
    overlay: "The overlay must be an image of the same account.",
  }[member];
  return wrongParameter(askedBy(query, member), member === "overlay" ? "invalid" : "out_of_range", message);
}

/** Has the worker make a rendition that would keep the caller waiting for too long, once. */
async function showLater(
  service: ImagesService,
  image: Image,
  rendition: Rendition,
  viewer: Viewer,
): Promise<HttpResponse> {
  if (await isRefused(service, image, rendition)) {
    return refused(422, "validation_error", { message: "The image could not be rendered in this form." });
  }
  if (viewer.isOnBudget) service.renderBudget.requireLeft(image.accountId);
  await requestLater(service, image, rendition, viewer);
  const message = "The image is being rendered in this form.";
  return refused(503, "unavailable", { message, retryAfterSeconds, isExpected: true });
}

/** Requests a rendition from the worker and charges it to the budget, once. */
async function requestLater(
  service: ImagesService,
  image: Image,
  rendition: Rendition,
  { isOnBudget }: Viewer,
): Promise<void> {
  const isFirst = await requestRendition(service, image, rendition);
  if (isFirst && isOnBudget) service.renderBudget.spend(image.accountId, expectedMs(service, image, rendition));
}

async function showOriginal(
  service: ImagesService,
  input: RouteInput<Principal, { readonly image_id: string }>,
): Promise<HttpResponse> {
  const { imageStore, imageStatistics } = service;
  const { principal, params, request, headers } = input;
  const image = await imageStore.findOwn(principal.accountId, params.image_id);
  if (!image) return refused(404, "not_found");
  const answer = await answerOriginal(service, image, headers);
  return imageStatistics.counted(image.accountId, "original", request.method, answer);
}

async function answerOriginal(
  { objects }: ImagesService,
  image: Image,
  headers: Input["headers"],
): Promise<HttpResponse> {
  const etag = `"${image.sha256}"`;
  const cache = "private, no-cache";
  if (isNotModified({ headers }, etag)) return notModified(etag, { cache });
  const part = partOf(headers, etag, image.sizeBytes);
  if (part === "unsatisfiable") return outOfRange(image.sizeBytes);
  const original = await objects.get(originalKey(image), part ? { range: part } : {});
  if (!original) return refused(503, "unavailable", { retryAfterSeconds });
  const range = part ? contentRange(part, image.sizeBytes) : {};
  return stream(original.stream, {
    etag,
    cache,
    status: part ? 206 : 200,
    contentType: "application/octet-stream",
    length: part ? part.end - part.start + 1 : original.size,
    headers: {
      "Accept-Ranges": "bytes",
      "Content-Disposition": disposition("attachment", image.filename),
      ...range,
    },
  });
}
