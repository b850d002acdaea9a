import type { Principal } from "@signalbox/auth";
import { examples, ImageResource, imageExample } from "@signalbox/contracts";
import type { DetailCode, Refusal } from "@signalbox/core";
import { created, type HttpResponse, type RouteInput, refusedWith } from "@signalbox/http";
import { receiveForm } from "@signalbox/http/uploads";
import { type Edges, edgesOf, type Flow, operation, runFlow } from "@signalbox/service";
import { z } from "zod";
import type { ImagesService } from "../context/images-service.ts";
import type { AccountFull } from "../images/images.ts";
import { etagOfImage, viewImage } from "../state/image.ts";
import { filename, NewImageFields, sha256Hex } from "../state/image-fields.ts";
import { readUploadFields, wrongPart } from "./upload-fields.ts";
import { createImageFromFile, createImageFromOriginal, importImage, type Uploaded } from "./uploads.ts";

/** The source of an import and the image's fields. */
const ImportBody = NewImageFields.extend({
  source_url: z.string().min(1).max(4096).describe("An http or https URL of a public address."),
})
  .meta({ id: "ImageImport" })
  .register(examples, {
    example: { source_url: "https://pictures.example/harbour.jpg", title: imageExample.title, visibility: "public" },
  });

/** The body of an image record without a file: from a URL, or from the account's own originals. */
const UploadBody = ImportBody.extend({
  source_url: ImportBody.shape.source_url.optional(),
  sha256: sha256Hex.describe("SHA-256, in lower-case hex, of an original that this account already has.").optional(),
  filename: filename
    .optional()
    .describe("Only with `sha256`. Default: the file name of the record that has the original."),
})
  .superRefine((body, context) => {
    const refuse = (field: keyof typeof body, code: DetailCode, message: string) =>
      context.addIssue({ code: "custom", path: [field], message, params: { code } });
    if (body.source_url === undefined && body.sha256 === undefined) {
      refuse("source_url", "required", "Is required without sha256.");
    }
    if (body.source_url === undefined) return;
    if (body.sha256 !== undefined) refuse("sha256", "invalid", "Cannot be combined with source_url.");
    if (body.filename !== undefined) refuse("filename", "invalid", "Is only allowed with sha256.");
  })
  .meta({ id: "ImageUpload", if: { required: ["source_url"] }, else: { required: ["sha256"] } })
  .register(examples, { example: { sha256: imageExample.sha256, title: imageExample.title } });

const UploadForm = z
  .strictObject({
    file: z.string().describe("The image's bytes.").meta({ format: "binary" }),
    ...NewImageFields.shape,
  })
  .register(examples, {
    example: { file: "the bytes of harbour.jpg", title: imageExample.title, visibility: "private" },
  });

const auth = { scopes: ["images:write"] } as const;
const responses = { 201: ImageResource, 404: "error", 502: "error" } as const;

const switchedOff = { code: "forbidden", message: "Imports are switched off." } as const;
const unknownHash = {
  code: "not_found",
  message: "The account has no image with this hash. Upload the file.",
} as const;

/** Refuses an image for which the account has no room. */
export function accountFull({ limit, max }: AccountFull): Refusal {
  const most =
    limit === "images"
      ? `The account can have at most ${max} images.`
      : `The originals of the account can have at most ${max} bytes in total.`;
  return { code: "conflict", message: `${most} Delete some first.` };
}

/** The operations that create images: from a file, from a URL, or from an original that the account has. */
export function uploadApi(service: ImagesService): Edges {
  const { configuration } = service;
  const baseUrl = configuration.get("http.base-url");
  const answer = (result: Uploaded): HttpResponse => answerTo(result, baseUrl);
  const edges = edgesOf(
    {
      importImage: operation({
        summary: "Import an image from a URL",
        description: "The image is fetched over http or https from a public address, and then treated as an upload.",
        auth,
        audit: "image.create",
        input: ImportBody,
        act: ({ input: { source_url: sourceUrl, ...fields }, ...flow }) =>
          importImage(service, flow, sourceUrl, fields),
        refusals: { "switched-off": switchedOff, "limit-reached": accountFull, refused: ({ refusal }) => refusal },
        rest: { post: "/images/import", responses, idempotent: true, answer },
        graph: { payload: { image: ({ image }) => image }, type: "ImagePayload" },
      }),
    },
    { errors: "image" },
  );
  // A form is read while it arrives, and the graph has no files.
  edges.routes.post("/images", {
    operationId: "uploadImage",
    summary: "Upload an image",
    description:
      "`multipart/form-data` with the part `file`; or JSON with `source_url`, which is the same as an import, or with the `sha256` of an original that the account already has.",
    auth,
    audit: "image.create",
    body: {
      multipart: true,
      json: UploadBody,
      form: UploadForm,
      maxBytes: () => configuration.get("limits.maxUploadBytes"),
    },
    responses,
    idempotent: true,
    handle(input) {
      const { body } = input;
      if (body === null) return receive(service, input, answer);
      return runFlow(input, (flow) => createWithoutFile(service, flow, body), answer);
    },
  });
  return edges;
}

type UploadBody = z.output<typeof UploadBody>;

function createWithoutFile(service: ImagesService, flow: Flow, body: UploadBody): Promise<Uploaded> {
  const { source_url: sourceUrl, sha256 = "", filename, ...fields } = body;
  if (sourceUrl !== undefined) return importImage(service, flow, sourceUrl, fields);
  return createImageFromOriginal(service, flow, sha256, filename, fields);
}

/** Receives the form before the flow: its key covers the hash of the file. */
async function receive(
  service: ImagesService,
  input: RouteInput<Principal>,
  answer: (result: Uploaded) => HttpResponse,
): Promise<HttpResponse> {
  const { file, filename, texts } = await receiveForm(input.request, service.staging, wrongPart);
  try {
    const fields = readUploadFields(texts);
    const replayed = await input.idempotency.begin({ ...fields, filename, file: file.sha256 });
    if (replayed) return replayed;
    const create = (flow: Flow) => createImageFromFile(service, flow, { file, filename }, fields);
    return await runFlow(input, create, answer);
  } finally {
    await file.discard();
  }
}

function answerTo(result: Uploaded, baseUrl: string): HttpResponse {
  if (result.outcome === "created") {
    const { image } = result;
    return created(`/images/${image.id}`, viewImage(image, baseUrl), { etag: etagOfImage(image) });
  }
  if (result.outcome === "limit-reached") return refusedWith(accountFull(result));
  if (result.outcome === "refused") return refusedWith(result.refusal);
  return refusedWith(result.outcome === "missing" ? unknownHash : switchedOff);
}
