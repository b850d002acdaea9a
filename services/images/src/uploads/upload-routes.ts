import type { Principal } from "@signalbox/auth";
import { ImageResource } from "@signalbox/contracts";
import { KiB } from "@signalbox/core";
import { created, createRoutes, type HttpResponse, type RouteInput, refused } from "@signalbox/http";
import { z } from "zod";
import type { CreateImageOutcome } from "../images/create-image.ts";
import type { Image } from "../images/image.ts";
import { NewImageFields } from "../images/image-fields.ts";
import { etagOfImage } from "../images/image-routes.ts";
import type { Verbs } from "../service.ts";
import { receiveUpload } from "./receive-upload.ts";
import type { StagedFile } from "./staging-area.ts";
import { readUploadFields } from "./upload-fields.ts";

const ImportBody = NewImageFields.extend({
  source_url: z.string().min(1).max(4096).describe("An http or https URL of a public address."),
}).meta({ id: "ImageImport" });

const UploadForm = z.strictObject({
  file: z.string().describe("The image's bytes.").meta({ format: "binary" }),
  ...NewImageFields.shape,
});

/** What may stand around the file: the other parts, boundaries, part headers. */
const framingBytesMax = 512 * KiB;
const responses = { 201: ImageResource, 413: "error", 415: "error", 422: "error", 502: "error", 503: "error" } as const;
type Input<Body> = RouteInput<Principal, unknown, unknown, Body>;

/** How images come in: as a file, or from a URL. */
export function uploadRoutes(verbs: Verbs) {
  const { staging, createImage, fetchFile, view, uploadBytesMax, mayUpload, mayImport } = verbs;
  const routes = createRoutes({ errors: "image" });
  const auth = { scopes: ["images:write"] } as const;

  routes.post("/images", {
    summary: "Upload an image",
    description: "`multipart/form-data` with the part `file`, or JSON with `source_url`, which equals an import.",
    auth,
    body: { multipart: true, json: ImportBody, form: UploadForm, maxBytes: () => uploadBytesMax() + framingBytesMax },
    responses,
    idempotent: true,
    handle: (input) => (input.body === null ? upload(input) : importFrom(input, input.body)),
  });

  routes.post("/images/import", {
    summary: "Import an image from a URL",
    auth,
    body: ImportBody,
    responses,
    idempotent: true,
    handle: (input) => importFrom(input, input.body),
  });

  return routes;

  async function upload(input: Input<unknown>): Promise<HttpResponse> {
    if (!mayUpload()) return refused(403, "forbidden", { message: "Uploads are switched off." });
    const { file, filename, fields } = await receiveUpload(input.request, { staging, bytesMax: uploadBytesMax() });
    return discarding(file, async () => {
      const known = readUploadFields(fields);
      const stored = await input.idempotency.begin({ ...known, filename, file: file.sha256 });
      return stored ?? make(input, { file, filename, fields: known });
    });
  }

  async function importFrom(input: Input<unknown>, body: z.output<typeof ImportBody>): Promise<HttpResponse> {
    if (!mayImport()) return refused(403, "forbidden", { message: "Imports are switched off." });
    const { source_url: sourceUrl, ...fields } = body;
    const { file, filename } = await fetchFile(sourceUrl, input.signal);
    return discarding(file, () => make(input, { file, filename, fields }));
  }

  async function make(
    input: Input<unknown>,
    given: { file: StagedFile; filename: string; fields: NewImageFields },
  ): Promise<HttpResponse> {
    const answer = (image: Image) => created(`/images/${image.id}`, view(image), { etag: etagOfImage(image) });
    const result = await createImage({
      ...given,
      accountId: input.principal.accountId,
      alongside: (tx, image) => input.idempotency.complete(tx, answer(image)),
    });
    return result.outcome === "created" ? answer(result.image) : refusalOf(result);
  }
}

async function discarding<T>(file: StagedFile, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await file.discard();
  }
}

function refusalOf(result: Exclude<CreateImageOutcome, { outcome: "created" }>): HttpResponse {
  switch (result.outcome) {
    case "not-accepted": {
      const details = [{ field: "file", code: "type_not_accepted", message: result.advice }];
      return refused(415, "unsupported_media_type", { message: result.advice, details });
    }
    case "over-limit": {
      const { kind, code, message } = result.problem;
      const details = [{ field: "file", code, message }];
      if (kind === "too-large") return refused(413, "image_too_large", { message, details });
      return refused(422, "validation_error", { message, details });
    }
    case "broken": {
      const details = [{ field: "file", code: "not_an_image", message: result.message }];
      return refused(422, "validation_error", { message: result.message, details });
    }
  }
}
