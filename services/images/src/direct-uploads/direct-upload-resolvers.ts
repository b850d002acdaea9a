import { mutation, refusalError } from "@signalbox/graphql";
import type { TermsOf } from "../renditions/render-terms.ts";
import { CompletionBody, NewUploadBody } from "./direct-upload-body.ts";
import { type DirectUploads, requireSwitchedOn } from "./direct-uploads.ts";
import type { JudgeUpload } from "./judge-upload.ts";

interface Dependencies {
  readonly directUploads: Pick<DirectUploads, "create" | "complete">;
  readonly judgeUpload: JudgeUpload;
  readonly termsOf: TermsOf;
  readonly mayUploadDirectly: () => boolean;
}

/** The mutations of direct uploads, with their scopes. */
export function directUploadMutations({ directUploads, judgeUpload, termsOf, mayUploadDirectly }: Dependencies) {
  const writers = { scopes: ["images:write"] } as const;
  return {
    createImageUpload: mutation(
      { ...writers, audit: "image_upload.create", input: NewUploadBody, payload: "upload" },
      async (input, { caller, inTransaction }) => {
        requireSwitchedOn(mayUploadDirectly);
        const { upload, terms } = await inTransaction((tx) => directUploads.create(tx, caller, input));
        const headers = Object.entries(terms.headers).map(([name, value]) => ({ name, value }));
        return { id: upload.id, ...terms, headers, expiresAt: upload.expiresAt };
      },
    ),
    completeImageUpload: mutation(
      { ...writers, audit: "image.create", input: CompletionBody, payload: "image" },
      async (fields, { caller, inTransaction }, { id: uploadId }: { readonly id: string }) => {
        requireSwitchedOn(mayUploadDirectly);
        // No signal: the gateway ends abandoned requests by its own deadline.
        const terms = termsOf({ principal: caller, clientAddress: caller.clientAddress ?? "" });
        const judged = await judgeUpload(caller.accountId, uploadId, terms);
        if (judged.outcome === "refused") throw refusalError(judged.refusal);
        const { original } = judged;
        return (await inTransaction((tx) => directUploads.complete(tx, caller, { uploadId, original, fields }))).image;
      },
    ),
  };
}
