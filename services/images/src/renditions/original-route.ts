import { imageExample } from "@signalbox/contracts";
import { createRoutes, isNotModified, notModified, refused, stream } from "@signalbox/http";
import type { ObjectStore } from "@signalbox/storage";
import { originalKey } from "../blobs/blob-keys.ts";
import type { ImageStore } from "../images/image-store.ts";
import { contentRange, outOfRange, partOf } from "./byte-range.ts";
import { disposition } from "./content-headers.ts";

interface Dependencies {
  readonly imageStore: ImageStore;
  readonly objects: ObjectStore;
}

/** Time after which missing bytes may be requested again. */
const retryAfterSeconds = 5;

/** The route of the original, for its owner only. */
export function originalRoutes({ imageStore, objects }: Dependencies) {
  const routes = createRoutes({ errors: "image", exampleIds: { image_id: imageExample.id } });
  const file = { content: ["application/octet-stream"] };

  routes.get("/images/:image_id/original", {
    operationId: "imageOriginal",
    summary: "Download the original",
    description: "The file as it was uploaded, metadata included; for its owner, and never shown inline.",
    auth: { scopes: ["images:read"] },
    responses: { 200: file, 206: file, 404: "error", 416: "error", 429: "error", 503: "error" },
    async handle({ principal, params, headers }) {
      const image = await imageStore.findOwn(principal.accountId, params.image_id);
      if (!image) return refused(404, "not_found");
      const etag = `"${image.sha256}"`;
      const cache = "private, no-cache";
      if (isNotModified({ headers }, etag)) return notModified(etag, { cache });
      const part = partOf(headers, etag, image.sizeBytes);
      if (part === "unsatisfiable") return outOfRange(image.sizeBytes);
      const original = await objects.get(originalKey(image), part ? { range: part } : {});
      if (!original) return refused(503, "unavailable", { retryAfterSeconds });
      return stream(original.stream, {
        ...{ etag, cache, status: part ? 206 : 200, contentType: "application/octet-stream" },
        length: part ? part.end - part.start + 1 : original.size,
        headers: {
          "Accept-Ranges": "bytes",
          "Content-Disposition": disposition("attachment", image.filename),
          ...(part && contentRange(part, image.sizeBytes)),
        },
      });
    },
  });

  return routes;
}
