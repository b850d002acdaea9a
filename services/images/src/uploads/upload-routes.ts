import type { Principal } from "@signalbox/auth";
import { examples, ImageResource, imageExample } from "@signalbox/contracts";
import { created, createRoutes, type HttpResponse, type RouteInput, refused, refusedWith } from "@signalbox/http";
import { z } from "zod";
import { type Original, originalOf } from "../images/image.ts";
import { NewImageFields } from "../images/image-fields.ts";
import type { ImageStore } from "../images/image-store.ts";
import { etagOfImage, type ViewImage } from "../images/image-view.ts";
import type { Images } from "../images/images.ts";
import type { TermsOf } from "../renditions/render-terms.ts";
import { ImportBody, UploadBody } from "./imports.ts";
import type { ArrivedFile, StagedFile, StagingArea } from "./staging-area.ts";
import { readUploadFields } from "./upload-fields.ts";
import { refusalOf } from "./upload-refusals.ts";
import type { Uploads } from "./uploads.ts";

interface Dependencies {
  readonly uploads: Uploads;
  readonly images: Images;
  readonly imageStore: Pick<ImageStore, "findOfOriginal">;
  readonly view: ViewImage;
  readonly staging: Pick<StagingArea, "bytesMax">;
  readonly termsOf: TermsOf;
  readonly mayImport: () => boolean;
}

const UploadForm = z
  .strictObject({
    file: z.string().describe("The image's bytes.").meta({ format: "binary" }),
    ...NewImageFields.shape,
  })
  .register(examples, {
    example: { file: "the bytes of harbour.jpg", title: imageExample.title, visibility: "private" },
  });

type Input<Body> = RouteInput<Principal, unknown, unknown, Body>;

/** The routes that create images: from a file, or from a URL. */
export function uploadRoutes(dependencies: Dependencies) {
  const routes = createRoutes({ errors: "image" });
  const auth = { scopes: ["images:write"] } as const;
  const responses = {
    201: ImageResource,
    404: "error",
    409: "error",
    413: "error",
    415: "error",
    422: "error",
    429: "error",
    502: "error",
    503: "error",
  } as const;
  const maxBytes = dependencies.staging.bytesMax;

  routes.post("/images", {
    operationId: "uploadImage",
    summary: "Upload an image",
    description:
      "`multipart/form-data` with the part `file`; or JSON with `source_url`, which equals an import, or with the `sha256` of an original that the account has already.",
    auth,
    audit: "image.create",
    body: { multipart: true, json: UploadBody, form: UploadForm, maxBytes },
    responses,
    idempotent: true,
    handle(input) {
      if (input.body === null) return upload(dependencies, input);
      const { source_url, sha256, filename, ...fields } = input.body;
      if (source_url !== undefined) return importFrom(dependencies, input, { source_url, ...fields });
      return createAgain(dependencies, input, { sha256: sha256 ?? "", filename, fields });
    },
  });

  routes.post("/images/import", {
    operationId: "importImage",
    summary: "Import an image from a URL",
    auth,
    audit: "image.create",
    body: ImportBody,
    responses,
    idempotent: true,
    handle: (input) => importFrom(dependencies, input, input.body),
  });

  return routes;
}

async function upload(dependencies: Dependencies, input: Input<unknown>): Promise<HttpResponse> {
  const { file, filename, texts } = await dependencies.uploads.receive(input.request);
  return discarding(file, async () => {
    const fields = readUploadFields(texts);
    const replayed = await input.idempotency.begin({ ...fields, filename, file: file.sha256 });
    return replayed ?? create(dependencies, input, { file, filename, fields });
  });
}

async function importFrom(
  dependencies: Dependencies,
  input: Input<unknown>,
  { source_url: sourceUrl, ...fields }: z.output<typeof ImportBody>,
): Promise<HttpResponse> {
  if (!dependencies.mayImport()) return refused(403, "forbidden", { message: "Imports are switched off." });
  const { file, filename } = await dependencies.uploads.fetch(sourceUrl, input.signal);
  return discarding(file, () => create(dependencies, input, { file, filename, fields }));
}

interface Again {
  readonly sha256: string;
  readonly filename: string | undefined;
  readonly fields: NewImageFields;
}

/** Creates another record of an original that the account has: its bytes need not be sent again. */
async function createAgain(
  dependencies: Dependencies,
  input: Input<unknown>,
  { sha256, filename, fields }: Again,
): Promise<HttpResponse> {
  const { accountId } = input.principal;
  const image = await dependencies.imageStore.findOfOriginal({ accountId, sha256 });
  if (!image)
    return refused(404, "not_found", { message: "The account has no image with this hash. Upload the file." });
  const original = originalOf(image);
  return record(dependencies, input, { ...original, filename: filename ?? original.filename }, fields);
}

/** Stores the bytes before the record: a crash between the two leaves only bytes, which the sweep finds. */
async function create(
  dependencies: Dependencies,
  input: Input<unknown>,
  { fields, ...arrived }: ArrivedFile & { readonly fields: NewImageFields },
): Promise<HttpResponse> {
  const { uploads, termsOf } = dependencies;
  const stored = await uploads.store(input.principal.accountId, arrived, termsOf(input));
  if (stored.outcome !== "stored") return refusedWith(refusalOf(stored));
  return record(dependencies, input, stored.original, fields);
}

function record(
  { images, view }: Dependencies,
  input: Input<unknown>,
  original: Original,
  fields: NewImageFields,
): Promise<HttpResponse> {
  return input.inTransaction(async (tx) => {
    const image = await images.create(tx, input.caller, original, fields);
    const answer = created(`/images/${image.id}`, view(image), { etag: etagOfImage(image) });
    await input.idempotency.complete(tx, answer);
    return answer;
  });
}

async function discarding<T>(file: StagedFile, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await file.discard();
  }
}
