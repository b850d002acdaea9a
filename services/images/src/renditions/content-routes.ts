import type { Principal } from "@signalbox/auth";
import { imageExample } from "@signalbox/contracts";
import {
  bytes,
  createRoutes,
  type HttpResponse,
  isNotModified,
  notModified,
  type RouteInput,
  refused,
  stream,
} from "@signalbox/http";
import { outputFormats, outputTraits, type Rendition, renditionKey, renditionTag } from "@signalbox/imaging";
import type { ObjectStore } from "@signalbox/storage";
import { originalKey } from "../blobs/blob-keys.ts";
import type { Image } from "../images/image.ts";
import type { ImageStore } from "../images/image-store.ts";
import { enlargedSideMax } from "./choose-rendition.ts";
import { ContentQuery } from "./content-query.ts";
import type { TermsOf } from "./render-terms.ts";
import type { Renderer } from "./renderer.ts";
import type { Renditions } from "./renditions.ts";

interface Dependencies {
  readonly imageStore: ImageStore;
  readonly objects: ObjectStore;
  readonly renditions: Renditions;
  readonly renderer: Renderer;
  readonly isDeleted: (accountId: string) => boolean;
  readonly termsOf: TermsOf;
  readonly cacheSeconds: (visibility: Image["visibility"]) => number;
}

const contentTypes = outputFormats.map((format) => outputTraits[format].mimeType);
/** How soon bytes that are not there yet may be asked for again. */
const retryAfterSeconds = 5;
const responses = { 404: "error", 429: "error", 503: "error" } as const;

type Input<Who, Query = unknown> = RouteInput<Who, { readonly image_id: string }, Query>;

/** The bytes: re-encoded for everyone who may see them, and the original for the owner alone. */
export function contentRoutes(dependencies: Dependencies) {
  const routes = createRoutes({ errors: "image", exampleIds: { image_id: imageExample.id } });

  routes.get("/images/:image_id/content", {
    operationId: "imageContent",
    summary: "Show an image",
    description:
      "Always a re-encode: oriented, in sRGB, without metadata. Public images need no credentials. The validator is known without the bytes.",
    auth: { scopes: ["images:read"], optional: true },
    query: ContentQuery,
    ownNegotiation: true,
    responses: { ...responses, 200: { content: contentTypes }, 400: "error", 406: "error", 422: "error" },
    handle: (input) => showContent(dependencies, input),
  });

  routes.get("/images/:image_id/original", {
    operationId: "imageOriginal",
    summary: "Download the original",
    description: "The file as it was uploaded, metadata included; for its owner, and never shown inline.",
    auth: { scopes: ["images:read"] },
    ownNegotiation: true,
    responses: { ...responses, 200: { content: ["application/octet-stream"] } },
    handle: (input) => downloadOriginal(dependencies, input),
  });

  return routes;
}

async function showContent(
  dependencies: Dependencies,
  input: Input<Principal | null, ContentQuery>,
): Promise<HttpResponse> {
  const { principal, params, query, headers, log } = input;
  const { imageStore, renditions, renderer, termsOf, cacheSeconds } = dependencies;
  const image = await imageStore.find(params.image_id);
  if (!image || !maySee(dependencies, image, principal)) return refused(404, "not_found");

  const choice = await renditions.choose(image, query, headers.accept);
  if (choice.outcome === "not-acceptable") {
    return refused(406, "not_acceptable", { message: `The image can be had as ${contentTypes.join(", ")}.` });
  }
  if (choice.outcome === "too-large") return tooLarge();
  if (choice.outcome === "only-later") return showLater(dependencies, image, choice.rendition);
  const { rendition, later } = choice;
  if (later) {
    renditions.request(image, later).catch((error: unknown) => log.warn({ error }, "a rendition was not requested"));
  }

  const etag = renditionTag(renditionKey(image.sha256, rendition));
  const cache = `${image.visibility}, max-age=${cacheSeconds(image.visibility)}`;
  const about = {
    etag,
    cache,
    ...(later && { headers: { "rendition-pending": outputTraits[later.format].mimeType } }),
  };
  if (isNotModified({ headers }, etag)) return notModified(etag, about);
  const { mimeType: contentType } = outputTraits[rendition.format];
  const content = await renderer.obtain(image, rendition, termsOf(input));
  switch (content.kind) {
    case "bytes":
      return bytes(content.bytes, contentType, about);
    case "stream":
      return stream(content.stream, { ...about, contentType, length: content.size });
    case "later":
      return showLater(dependencies, image, rendition);
  }
}

function tooLarge(): HttpResponse {
  const message = `An enlarged image may have ${enlargedSideMax} pixels on each side.`;
  const details = [{ field: "enlarge", code: "out_of_range", message }] as const;
  return refused(400, "invalid_request", { message, details });
}

/** What would keep a caller waiting for too long is made by the worker, once. */
async function showLater({ renditions }: Dependencies, image: Image, rendition: Rendition): Promise<HttpResponse> {
  if (await renditions.isRefused(image, rendition)) {
    return refused(422, "validation_error", { message: "The image could not be made in this form." });
  }
  await renditions.request(image, rendition);
  return refused(503, "unavailable", { message: "The image is being made in this form.", retryAfterSeconds });
}

/** Another account's private image, and a public one of a deleted account, read as missing. */
function maySee({ isDeleted }: Dependencies, image: Image, principal: Principal | null): boolean {
  if (principal?.accountId === image.accountId) return true;
  return image.visibility === "public" && !isDeleted(image.accountId);
}

async function downloadOriginal(
  { imageStore, objects }: Dependencies,
  { principal, params, headers }: Input<Principal>,
): Promise<HttpResponse> {
  const image = await imageStore.findOwn(principal.accountId, params.image_id);
  if (!image) return refused(404, "not_found");
  const etag = `"${image.sha256}"`;
  const cache = "private, no-cache";
  if (isNotModified({ headers }, etag)) return notModified(etag, { cache });
  const original = await objects.get(originalKey(image.sha256));
  if (!original) return refused(503, "unavailable", { retryAfterSeconds });
  return stream(original.stream, {
    etag,
    cache,
    contentType: image.mimeType,
    length: original.size,
    headers: { "content-disposition": attachment(image.filename) },
  });
}

/** RFC 6266: a plain name for old clients, the real one in UTF-8. */
function attachment(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(filename).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
