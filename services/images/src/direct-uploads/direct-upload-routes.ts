import type { IncomingHttpHeaders } from "node:http";
import type { Principal } from "@signalbox/auth";
import { ImageResource } from "@signalbox/contracts";
import { AppError, type Clock } from "@signalbox/core";
import {
  created,
  createRoutes,
  type HttpResponse,
  noContent,
  ok,
  type RouteInput,
  type Routes,
  refused,
  refusedWith,
} from "@signalbox/http";
import type { NewImageFields } from "../images/image-fields.ts";
import { etagOfImage, type ViewImage } from "../images/image-view.ts";
import type { TermsOf } from "../renditions/render-terms.ts";
import { createDigestCheck } from "../uploads/expect-digest.ts";
import type { DirectUpload } from "./direct-upload.ts";
import {
  CompletionBody,
  NewUploadBody,
  NewUploadView,
  UploadView,
  uploadExampleId,
  viewNewUpload,
  viewUpload,
} from "./direct-upload-body.ts";
import type { DirectUploadStore } from "./direct-upload-store.ts";
import { type DirectUploads, noUpload, requireSwitchedOn } from "./direct-uploads.ts";
import type { JudgeUpload } from "./judge-upload.ts";
import { pieceType } from "./resumable-target.ts";

interface Dependencies {
  readonly directUploads: DirectUploads;
  readonly directUploadStore: Pick<DirectUploadStore, "findOwn" | "lockOwn">;
  readonly judgeUpload: JudgeUpload;
  readonly view: ViewImage;
  readonly termsOf: TermsOf;
  readonly clock: Clock;
  readonly uploadBytesMax: () => number;
  readonly mayUploadDirectly: () => boolean;
}

type Params = { readonly upload_id: string };
type Input<Body> = RouteInput<Principal, Params, unknown, Body>;

const auth = { scopes: ["images:write"] } as const;

/** The routes of direct uploads: files are announced, sent, completed or cancelled. */
export function directUploadRoutes(dependencies: Dependencies) {
  const routes = createRoutes({ errors: "image", exampleIds: { upload_id: uploadExampleId } });
  declareBeginAndEnd(routes, dependencies);
  declareSending(routes, dependencies);
  declareCompletion(routes, dependencies);
  return routes;
}

function declareBeginAndEnd(routes: Routes, dependencies: Dependencies): void {
  const { directUploads, directUploadStore } = dependencies;
  routes.post("/images/uploads", {
    operationId: "createImageUpload",
    summary: "Announce a file, to be sent straight to the store",
    description: "The answer says how to send it. Then complete the upload, which makes the image.",
    auth,
    audit: "image_upload.create",
    body: NewUploadBody,
    responses: { 201: NewUploadView, 403: "error", 409: "error", 413: "error", 415: "error" },
    // The URL of a PUT is a credential.
    idempotent: "sealed",
    create: {
      run(tx, { caller, body }) {
        requireSwitchedOn(dependencies.mayUploadDirectly);
        return directUploads.create(tx, caller, body);
      },
      answer: ({ upload, terms }) => created(`/images/uploads/${upload.id}`, viewNewUpload(upload, terms)),
    },
  });

  routes.delete("/images/uploads/:upload_id", {
    operationId: "cancelImageUpload",
    summary: "Cancel an upload",
    description: "Its bytes are removed. An upload that has ended already stays as it is.",
    auth,
    audit: "image_upload.cancel",
    responses: { 204: "empty", 404: "error" },
    idempotent: true,
    write: {
      find: (tx, { caller, params }) => directUploadStore.lockOwn(tx, caller.accountId, params.upload_id),
      change: (tx, upload, { caller }) => directUploads.cancel(tx, caller, upload),
      answer: () => noContent(),
    },
  });
}

function declareSending(routes: Routes, dependencies: Dependencies): void {
  const { directUploads, clock, uploadBytesMax } = dependencies;
  routes.get("/images/uploads/:upload_id", {
    operationId: "imageUpload",
    summary: "Read what has arrived of an upload",
    description:
      "Where the file is sent to this service, `Upload-Offset` is the offset of the next piece; HEAD is enough for that.",
    auth,
    cache: "no-store",
    responses: { 200: UploadView, 404: "error", 503: "error" },
    async handle({ principal, params }) {
      const found = await directUploads.findOwn(principal.accountId, params.upload_id);
      if (!found) return refused(404, "not_found", { message: noUpload });
      const { upload, received } = found;
      return ok(viewUpload(upload, received, clock.now()), { headers: progressOf(upload, received) });
    },
  });

  routes.patch("/images/uploads/:upload_id", {
    operationId: "appendToImageUpload",
    summary: "Send a piece of an upload",
    description:
      "The file or a part of it, starting at `Upload-Offset`. After a broken connection the received bytes are kept: read the offset with HEAD and send the rest.",
    auth,
    audit: { unaudited: "The announcement and the completion of the upload have entries." },
    body: { unread: { maxBytes: uploadBytesMax, mediaTypes: [pieceType], isFile: true, description: "The bytes." } },
    responses: {
      204: "empty",
      400: "error",
      403: "error",
      404: "error",
      409: "error",
      413: "error",
      415: "error",
      503: "error",
    },
    handle: (input) => append(dependencies, input),
  });
}

async function append(dependencies: Dependencies, { principal, params, request }: Input<null>): Promise<HttpResponse> {
  requireSwitchedOn(dependencies.mayUploadDirectly);
  const { directUploads, directUploadStore } = dependencies;
  const upload = await directUploadStore.findOwn(principal.accountId, params.upload_id);
  if (!upload) return refused(404, "not_found", { message: noUpload });
  const offset = offsetIn(request.headers);
  const digest = createDigestCheck(request, ["content-digest"]);
  const pieceBytes = Number(request.headers["content-length"] ?? 0);
  const appended = await directUploads.append(upload, { offset, source: request, digest }, pieceBytes);
  const headers = progressOf(upload, appended.received);
  if (appended.outcome === "appended") return noContent({ headers });
  return refused(409, "conflict", { message: `The next piece starts at ${appended.received}.`, headers });
}

function declareCompletion(routes: Routes, dependencies: Dependencies): void {
  routes.post("/images/uploads/:upload_id/complete", {
    operationId: "completeImageUpload",
    summary: "Create the image of an upload",
    description:
      "The bytes are checked like those of any other upload. A refused upload may be completed again with other bytes until it expires; 200 is the image of an upload that was completed before.",
    auth,
    audit: "image.create",
    body: CompletionBody,
    responses: {
      200: ImageResource,
      201: ImageResource,
      400: "error",
      403: "error",
      404: "error",
      409: "error",
      413: "error",
      415: "error",
      422: "error",
      429: "error",
      503: "error",
    },
    idempotent: true,
    handle: (input) => complete(dependencies, input),
  });
}

/** Stores the bytes before the record, like every upload: a crash between the two leaves the upload open. */
async function complete(dependencies: Dependencies, input: Input<NewImageFields>): Promise<HttpResponse> {
  requireSwitchedOn(dependencies.mayUploadDirectly);
  const { directUploads, judgeUpload, termsOf, view } = dependencies;
  const { upload_id: uploadId } = input.params;
  const judged = await judgeUpload(input.principal.accountId, uploadId, termsOf(input));
  if (judged.outcome === "refused") return refusedWith(judged.refusal);
  return input.inTransaction(async (tx) => {
    const completion = { uploadId, original: judged.original, fields: input.body };
    const { image, isNew } = await directUploads.complete(tx, input.caller, completion);
    const etag = etagOfImage(image);
    const answer = isNew ? created(`/images/${image.id}`, view(image), { etag }) : ok(view(image), { etag });
    await input.idempotency.complete(tx, answer);
    return answer;
  });
}

/** Builds the headers for the progress of an upload (draft-ietf-httpbis-resumable-upload). */
function progressOf({ sizeBytes }: DirectUpload, received: number): Record<string, string> {
  return {
    "Upload-Offset": String(received),
    "Upload-Length": String(sizeBytes),
    "Upload-Complete": received === sizeBytes ? "?1" : "?0",
  };
}

function offsetIn(headers: IncomingHttpHeaders): number {
  const given = String(headers["upload-offset"] ?? "");
  if (/^\d{1,10}$/.test(given)) return Number(given);
  const message = "Must be the number of bytes before this piece.";
  throw new AppError("invalid_request", message, { details: [{ field: "upload-offset", code: "required", message }] });
}
