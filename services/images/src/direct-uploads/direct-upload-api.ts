import type { Principal } from "@signalbox/auth";
import { ImageResource, viewOf } from "@signalbox/contracts";
import type { Refusal } from "@signalbox/core";
import { created, type HttpResponse, noContent, ok, type RouteInput, refused, refusedWith } from "@signalbox/http";
import {
  createDigestCheck,
  pieceType,
  progressHeaders,
  tusPieceType,
  uploadChecksumIn,
  uploadMetadataIn,
  uploadOffsetIn,
} from "@signalbox/http/uploads";
import { type Edges, edgesOf, type Flow, operation, record, runFlow } from "@signalbox/service";
import type { ImagesService } from "../context/images-service.ts";
import {
  CompletionBody,
  type DirectUpload,
  NewUploadBody,
  NewUploadView,
  type SendingTerms,
  statusOf,
  UploadView,
  uploadExampleId,
} from "../state/direct-upload.ts";
import { etagOfImage, type Image, viewImage } from "../state/image.ts";
import { offsetAfter } from "../state/upload-target.ts";
import { accountFull } from "../uploads/upload-api.ts";
import { type Completed, completeUpload } from "./complete-upload.ts";
import { findOwnDirectUpload, lockOwnDirectUpload } from "./direct-upload-store.ts";
import {
  announceDirectUpload,
  appendPiece,
  areDirectUploadsOffered,
  cancelDirectUpload,
  type LimitReached,
  readProgress,
} from "./direct-uploads.ts";
import { imageFieldsOf, tusAnnouncements, tusOffer } from "./tus-uploads.ts";

const base = "/images/uploads";
const one = `${base}/:upload_id` as const;
const auth = { scopes: ["images:write"] } as const;
/** The name of the path parameter in the graph. */
const names = { upload_id: "id" } as const;

const missing = "There is no such upload.";
const switchedOff = { code: "forbidden", message: "Direct uploads are switched off." } as const;
const refusedMissing = { code: "not_found", message: missing } as const;
const refusedEnded = ({ status }: { readonly status: string }): Refusal => ({
  code: "conflict",
  message: `The upload is ${status}. Start another one.`,
});

function refusedCompletion(result: Exclude<Completed, { readonly outcome: "completed" }>): Refusal {
  switch (result.outcome) {
    case "switched-off":
      return switchedOff;
    case "missing":
      return refusedMissing;
    case "limit-reached":
      return accountFull(result);
    case "image-deleted":
      return { code: "not_found", message: "The image of this upload was deleted." };
    case "ended":
      return refusedEnded(result);
    case "refused":
      return result.refusal;
  }
}

const viewNewUpload = viewOf(NewUploadView, (_: DirectUpload & SendingTerms) => ({}));
const viewUpload = viewOf(UploadView, (upload: DirectUpload, received: number, now: Date) => ({
  status: statusOf(upload, now),
  received_bytes: received,
}));

/** Direct uploads: announced and completed at both edges; their bytes are sent over REST alone. */
export function directUploadApi(service: ImagesService): Edges {
  const { configuration } = service;
  const declared = Object.assign(announcements(service), readsAndCancellation(service), completion(service));
  const edges = edgesOf(declared, { errors: "image", exampleIds: { upload_id: uploadExampleId } });
  edges.routes.patch(one, {
    operationId: "appendToImageUpload",
    summary: "Send a chunk of an upload",
    description:
      "The file or a part of it, starting at `Upload-Offset`. After a broken connection the received bytes are kept: read the offset with HEAD and send the rest. The last chunk of an upload begun with tus creates the image, as completing does.",
    auth,
    audit: { unaudited: "The start and the completion of the upload have audit entries." },
    body: {
      unread: {
        maxBytes: () => configuration.get("limits.maxUploadBytes"),
        mediaTypes: [pieceType, tusPieceType],
        isFile: true,
        description: "The bytes.",
      },
    },
    responses: { 204: "empty", 460: "error" },
    tus: tusOffer(service),
    handle: (input) => append(service, input),
  });
  return edges;
}

function announcements(service: ImagesService) {
  return {
    createImageUpload: operation({
      summary: "Start a direct upload",
      description: "The response says how to send the file. Then complete the upload, which creates the image.",
      auth,
      audit: "image_upload.create",
      input: NewUploadBody,
      create: (tx, { caller, input }) => announceDirectUpload(service, tx, caller, input),
      refusals: {
        "switched-off": switchedOff,
        "sent-elsewhere": { code: "forbidden", message: "Uploads go to the object store, which takes no tus." },
        refused: ({ refusal }) => refusal,
        "limit-reached": noRoom,
      },
      rest: {
        post: base,
        responses: { 201: NewUploadView },
        // The URL of a PUT is a credential.
        idempotent: "sealed",
        forms: tusAnnouncements,
        tus: tusOffer(service),
        answer({ upload, terms }) {
          const headers = { "Upload-Expires": upload.expiresAt.toUTCString() };
          return created(`${base}/${upload.id}`, viewNewUpload({ ...upload, ...terms }), { headers });
        },
      },
      graph: { payload: { upload: sendingOf }, type: "ImageUploadPayload" },
    }),
  };
}

/** The instructions as the graph has them, which has no members with names of their own. */
function sendingOf({ upload, terms }: { readonly upload: DirectUpload; readonly terms: SendingTerms }) {
  const headers = Object.entries(terms.headers).map(([name, value]) => ({ name, value }));
  return { id: upload.id, ...terms, headers, expiresAt: upload.expiresAt };
}

function noRoom({ limit, max }: LimitReached): Refusal {
  const most =
    limit === "uploads"
      ? `The account can have at most ${max} open uploads.`
      : `The open uploads of the account can have at most ${max} bytes in total.`;
  return { code: "conflict", message: `${most} Complete or cancel some.` };
}

function readsAndCancellation(service: ImagesService) {
  return {
    imageUpload: record({
      summary: "Read the progress of an upload",
      description:
        "If the file is sent to this service, `Upload-Offset` is the offset of the next chunk; HEAD is enough to read it.",
      auth,
      find: ({ caller, params }) => readProgress(service, caller.accountId, params.upload_id),
      missing,
      rest: {
        get: one,
        resource: UploadView,
        cache: "no-store",
        tus: tusOffer(service),
        answer: ({ upload, received, offset }) =>
          ok(viewUpload(upload, received, service.clock.now()), { headers: progressOf(upload, offset) }),
      },
    }),
    cancelImageUpload: operation({
      summary: "Cancel an upload",
      description: "Its bytes are removed. An upload that has already ended is unchanged.",
      auth,
      audit: "image_upload.cancel",
      of: {
        find: (tx, { caller, params }) => lockOwnDirectUpload(tx, caller.accountId, params.upload_id),
        missing,
      },
      change: (tx, upload, { caller }) => cancelDirectUpload(service, tx, caller, upload),
      rest: { delete: one, responses: { 204: "empty" }, idempotent: true, tus: tusOffer(service) },
    }),
  };
}

function completion(service: ImagesService) {
  const baseUrl = service.configuration.get("http.base-url");
  return {
    completeImageUpload: operation({
      summary: "Create the image of an upload",
      description:
        "The bytes are checked like those of any other upload. A refused upload may be completed again with other bytes until it expires; 200 returns the image of an upload that was already completed.",
      auth,
      audit: "image.create",
      input: CompletionBody,
      act: ({ params, input, ...flow }) => completeUpload(service, flow, params.upload_id, input),
      refusals: {
        "switched-off": refusedCompletion,
        missing: refusedCompletion,
        "limit-reached": refusedCompletion,
        "image-deleted": refusedCompletion,
        ended: refusedCompletion,
        refused: refusedCompletion,
      },
      rest: {
        post: `${one}/complete`,
        responses: { 200: ImageResource, 201: ImageResource },
        idempotent: true,
        answer({ image, isNew }) {
          const [view, etag] = [viewImage(image, baseUrl), etagOfImage(image)];
          return isNew ? created(`/images/${image.id}`, view, { etag }) : ok(view, { etag });
        },
      },
      graph: { payload: { image: ({ image }: { readonly image: Image }) => image }, type: "ImagePayload", names },
    }),
  };
}

async function append(
  service: ImagesService,
  input: RouteInput<Principal, { readonly upload_id: string }>,
): Promise<HttpResponse> {
  const { principal, params, request } = input;
  if (!areDirectUploadsOffered(service)) return refusedWith(switchedOff);
  const upload = await findOwnDirectUpload(service.pool, principal.accountId, params.upload_id);
  if (!upload) return refusedWith(refusedMissing);
  const offset = uploadOffsetIn(request.headers);
  const digest = createDigestCheck(request, ["content-digest"]);
  const checksum = uploadChecksumIn(request.headers);
  const pieceBytes = Number(request.headers["content-length"] ?? 0);
  const appended = await appendPiece(service, upload, { offset, source: request, digest, checksum }, pieceBytes);
  switch (appended.outcome) {
    case "ended":
      return endedAnswer(upload, appended);
    case "sent-elsewhere":
      return refusedWith({ code: "conflict", message: "Send the bytes to the URL of the upload." });
    case "other-checksum":
      return refused(460, "invalid_request", { message: "The checksum does not match the chunk." });
    case "appended": {
      const isLast = appended.received === upload.sizeBytes;
      if (isLast && upload.metadata !== null) return completeTusUpload(service, input, upload, upload.metadata);
      return noContent({ headers: progressOf(upload, appended.received) });
    }
    case "other-offset": {
      const next = offsetAfter(upload, appended.received);
      const refusal = { code: "conflict", message: `The next chunk starts at ${next}.` } as const;
      return { ...refusedWith(refusal), headers: progressOf(upload, next) };
    }
  }
}

/** Creates the image of an upload by tus with its last chunk, whose answer has the path of the image. */
function completeTusUpload(
  service: ImagesService,
  input: RouteInput<Principal>,
  { id, sizeBytes }: DirectUpload,
  metadata: string,
): Promise<HttpResponse> {
  const complete = (flow: Flow) => completeUpload(service, flow, id, imageFieldsOf(uploadMetadataIn(metadata)));
  return runFlow(input, complete, (result: Completed) => {
    if (result.outcome !== "completed") return refusedWith(refusedCompletion(result));
    const path = `/images/${result.image.id}`;
    return noContent({ headers: { ...progressHeaders(sizeBytes, sizeBytes), "Content-Location": path } });
  });
}

/** Answers a client that lost the answer of its last chunk with the path of the image. */
function endedAnswer(upload: DirectUpload, ended: { readonly status: string }): HttpResponse {
  if (upload.imageId === null) return refusedWith(upload.metadata === null ? refusedEnded(ended) : refusedMissing);
  const refusal = { code: "conflict", message: "The upload is completed: it has become an image." } as const;
  return { ...refusedWith(refusal), headers: progressOf(upload, upload.sizeBytes) };
}

/** Builds the headers for the progress of an upload, which are those of tus too. */
function progressOf(
  { sizeBytes, state, expiresAt, metadata, imageId }: DirectUpload,
  offset: number,
): Record<string, string> {
  return {
    ...progressHeaders(sizeBytes, offset),
    ...(state === "open" ? { "Upload-Expires": expiresAt.toUTCString() } : {}),
    ...(metadata ? { "Upload-Metadata": metadata } : {}),
    ...(imageId ? { "Content-Location": `/images/${imageId}` } : {}),
  };
}
