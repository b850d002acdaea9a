import type { Caller } from "@signalbox/auth";
import { examples, imageExample } from "@signalbox/contracts";
import { AppError, type DetailCode, isAppError } from "@signalbox/core";
import { refusalError } from "@signalbox/graphql";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import type { Image } from "../images/image.ts";
import { filename, NewImageFields, sha256Hex } from "../images/image-fields.ts";
import type { Images } from "../images/images.ts";
import type { TermsOf } from "../renditions/render-terms.ts";
import { refusalOf } from "./upload-refusals.ts";
import type { Uploads } from "./uploads.ts";

/** The source of an import and the image's fields. */
export const ImportBody = NewImageFields.extend({
  source_url: z.string().min(1).max(4096).describe("An http or https URL of a public address."),
})
  .meta({ id: "ImageImport" })
  .register(examples, {
    example: { source_url: "https://pictures.example/harbour.jpg", title: imageExample.title, visibility: "public" },
  });

const sha256 = sha256Hex.describe("Of an original that this account has already, in lower-case hex.");

/** The body of an image record without a file: from a URL, or from the account's own originals. */
export const UploadBody = ImportBody.extend({
  source_url: ImportBody.shape.source_url.optional(),
  sha256: sha256.optional(),
  filename: filename.optional().describe("With `sha256`; that of the record that has the original, when left out."),
})
  .superRefine((body, context) => {
    const refuse = (field: keyof typeof body, code: DetailCode, message: string) =>
      context.addIssue({ code: "custom", path: [field], message, params: { code } });
    if (body.source_url === undefined && body.sha256 === undefined) {
      refuse("source_url", "required", "Is required where sha256 is not given.");
    }
    if (body.source_url === undefined) return;
    if (body.sha256 !== undefined) refuse("sha256", "invalid", "May not be given together with source_url.");
    if (body.filename !== undefined) refuse("filename", "invalid", "May be given with sha256 only.");
  })
  .meta({ id: "ImageUpload", anyOf: [{ required: ["source_url"] }, { required: ["sha256"] }] })
  .register(examples, { example: { sha256: imageExample.sha256, title: imageExample.title } });

interface Dependencies {
  readonly uploads: Uploads;
  readonly images: Images;
  readonly termsOf: TermsOf;
  readonly mayImport: () => boolean;
}

/** The caller and its transaction. */
interface Importing {
  readonly caller: Caller;
  inTransaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

export type Imports = ReturnType<typeof createImports>;

/** Imports from URLs, for GraphQL. */
export function createImports({ uploads, images, termsOf, mayImport }: Dependencies) {
  return {
    /** Imports an image. @throws AppError with the same refusals as REST. */
    async importFor(
      { caller, inTransaction }: Importing,
      { source_url: sourceUrl, ...fields }: z.output<typeof ImportBody>,
    ): Promise<Image> {
      if (!mayImport()) throw new AppError("forbidden", "Imports are switched off.");
      // The gateway ends abandoned requests by its own deadline; the import has one as well.
      const { signal } = new AbortController();
      const arrived = await uploads.fetch(sourceUrl, signal).catch((error: unknown) => {
        throw isAppError(error) && error.code === "validation_error" ? refusalError(error) : error;
      });
      try {
        const terms = termsOf({ principal: caller, clientAddress: caller.clientAddress ?? "", signal });
        const stored = await uploads.store(caller.accountId, arrived, terms);
        if (stored.outcome !== "stored") throw refusalError(refusalOf(stored));
        return await inTransaction((tx) => images.create(tx, caller, stored.original, fields));
      } finally {
        await arrived.file.discard();
      }
    },
  };
}
