import type { Principal } from "@signalbox/auth";
import { bytes, createRoutes, isNotModified, notModified, refused, stream } from "@signalbox/http";
import { outputFormats, outputTraits, renditionKey, renditionTag } from "@signalbox/imaging";
import { originalKey } from "../blobs/blob-keys.ts";
import type { Image } from "../images/image.ts";
import type { Verbs } from "../service.ts";
import { ContentQuery } from "./content-query.ts";

const contentTypes = outputFormats.map((format) => outputTraits[format].mimeType);
/** How soon a caller who takes nothing but a large AVIF may ask again. */
const comeBackSeconds = 5;

/** The bytes: re-encoded for everyone who may see them, and the original for the owner alone. */
export function contentRoutes(verbs: Verbs) {
  const { images, objects, chooseRendition, obtainRendition, requestRendition, isGone, cacheSeconds } = verbs;
  const routes = createRoutes({ errors: "image" });

  routes.get("/images/:image_id/content", {
    summary: "Show an image",
    description:
      "Always a re-encode: oriented, in sRGB, without metadata. Public images need no credentials. The validator is known without the bytes.",
    auth: { scopes: ["images:read"], optional: true },
    query: ContentQuery,
    ownNegotiation: true,
    responses: { 200: { content: contentTypes }, 404: "error", 406: "error", 422: "error", 503: "error" },
    async handle({ principal, params, query, headers, log }) {
      const image = await images.find(params.image_id);
      if (!image || !maySee(image, principal)) return refused(404, "not_found");

      const choice = await chooseRendition(image, query, headers.accept);
      if (choice.outcome === "not-acceptable") {
        return refused(406, "not_acceptable", { message: `The image can be had as ${contentTypes.join(", ")}.` });
      }
      if (choice.outcome === "only-later") {
        await requestRendition(image, choice.rendition);
        return refused(503, "unavailable", { message: "The AVIF is being made.", retryAfterSeconds: comeBackSeconds });
      }
      if (choice.later) {
        requestRendition(image, choice.later).catch((error: unknown) =>
          log.warn({ error }, "a rendition was not requested"),
        );
      }

      const etag = renditionTag(renditionKey(image.sha256, choice.rendition));
      const options = { etag, cache: cacheControl(image) };
      if (isNotModified({ headers }, etag)) return notModified(etag, options);
      const { mimeType: contentType } = outputTraits[choice.rendition.format];
      const obtained = await obtainRendition(image, choice.rendition);
      return obtained.kind === "bytes"
        ? bytes(obtained.bytes, contentType, options)
        : stream(obtained.stream, { ...options, contentType, length: obtained.size });
    },
  });

  routes.get("/images/:image_id/original", {
    summary: "Download the original",
    description: "The file as it was uploaded, metadata included; for its owner, and never shown inline.",
    auth: { scopes: ["images:read"] },
    ownNegotiation: true,
    responses: { 200: { content: ["application/octet-stream"] }, 404: "error", 503: "error" },
    async handle({ principal, params, headers }) {
      const image = await images.findOwn(principal.accountId, params.image_id);
      if (!image) return refused(404, "not_found");
      const etag = `"${image.sha256}"`;
      const cache = "private, no-cache";
      if (isNotModified({ headers }, etag)) return notModified(etag, { cache });
      const original = await objects.get(originalKey(image.sha256));
      if (!original) return refused(503, "unavailable", { retryAfterSeconds: comeBackSeconds });
      return stream(original.stream, {
        etag,
        cache,
        contentType: image.mimeType,
        length: original.size,
        headers: { "content-disposition": attachment(image.filename) },
      });
    },
  });

  return routes;

  /** Another account's private image, and a public one of a deleted account, read as missing. */
  function maySee(image: Image, principal: Principal | null): boolean {
    if (principal?.accountId === image.accountId) return true;
    return image.visibility === "public" && !isGone(image.accountId);
  }

  function cacheControl({ visibility }: Image): string {
    const maxAge = cacheSeconds(visibility);
    return visibility === "public" ? `public, max-age=${maxAge}` : `private, max-age=${maxAge}`;
  }
}

/** RFC 6266: a plain name for old clients, the real one in UTF-8. */
function attachment(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(filename).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
