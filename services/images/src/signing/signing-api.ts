import { examples, identifier, imageExample, liveValues, overlapSeconds, timestamp } from "@signalbox/contracts";
import { seconds } from "@signalbox/core";
import type { HttpResponse } from "@signalbox/http";
import { type Edges, edgesOf, operation } from "@signalbox/service";
import { viewValue } from "@signalbox/storage";
import { z } from "zod";
import type { ImagesService } from "../context/images-service.ts";
import { ContentForm } from "../state/content-query.ts";
import { sideMax } from "../state/image.ts";
import { rotateSigningKey, signImageUrl } from "./signed-urls.ts";

const isWithin = (length = 0, dpr = 1) => Math.round(length * dpr) <= sideMax;
const tooLarge = (path: "width" | "height") => ({
  message: `Times \`dpr\` it may be ${sideMax} at most.`,
  path: [path],
  params: { code: "too_big" },
});

/** The form of an image that a signed URL shows, and its lifetime. */
const SignedUrlBody = ContentForm.extend({
  expires_in_seconds: z.int().min(60).max(604_800).describe("A minute to a week."),
})
  .refine(({ width, dpr }) => isWithin(width, dpr), tooLarge("width"))
  .refine(({ height, dpr }) => isWithin(height, dpr), tooLarge("height"))
  .meta({ id: "SignedImageUrlRequest" })
  .register(examples, { example: { width: 960, format: "webp", expires_in_seconds: 3600 } });

const SignedUrlView = z
  .object({ url: z.string().describe("Absolute URL. It is a credential."), expires_at: timestamp })
  .meta({ id: "SignedImageUrl" })
  .register(examples, {
    example: {
      url: `${imageExample.url}&width=960&signature=v1.key_5Yb0cPq7TnV2sKxW9mRdLh.1767258000.l0d9Xz3yqf8cJm4bq0bW1n7v5x2c8r6t4u9k1e3h5g7`,
      expires_at: "2026-01-01T09:00:00.000Z",
    },
  });

const RotationBody = z
  .strictObject({
    overlap_seconds: overlapSeconds("URLs of the present key hold. Default: until they expire").optional(),
  })
  .meta({ id: "RotateImageSigningKey" })
  .register(examples, { example: { overlap_seconds: 3_600 } });

const SigningKeyView = z
  .object({ id: identifier("The key"), created_at: timestamp, secrets: liveValues("keys") })
  .meta({ id: "ImageSigningKey" })
  .register(examples, {
    example: {
      id: "key_5Yb0cPq7TnV2sKxW9mRdLh",
      created_at: "2026-01-01T09:00:00.000Z",
      secrets: [
        { id: "key_5Yb0cPq7TnV2sKxW9mRdLh", created_at: "2026-01-01T09:00:00.000Z", ends_at: null },
        {
          id: "key_3kVn7RtY1bQzXw5Lm9PdHc",
          created_at: "2025-10-01T09:00:00.000Z",
          ends_at: "2026-01-09T09:00:00.000Z",
        },
      ],
    },
  });

const write = { scopes: ["images:write"] } as const;

/** Signed URLs at both edges, and the keys that sign them, which are rotated over REST alone. */
export function signingApi(service: ImagesService): Edges {
  return edgesOf(
    {
      createSignedImageUrl: operation({
        summary: "Sign a URL of an image",
        description:
          "Everyone with the URL sees the image in exactly this form until it expires. Within a window of at most a quarter of its life the same request gives the same URL, so that caches share it.",
        auth: write,
        audit: "image.sign_url",
        input: SignedUrlBody,
        act: ({ caller, params, input: { expires_in_seconds: livesSeconds, ...form } }) =>
          signImageUrl(service, caller, params.image_id, form, livesSeconds),
        refusals: {
          "switched-off": { code: "forbidden", message: "Signed URLs are switched off." },
          missing: { code: "not_found", message: "There is no such image." },
        },
        rest: {
          post: "/images/:image_id/signed-urls",
          responses: { 201: SignedUrlView },
          answer: ({ url, expiresAt }) => shown({ url, expires_at: expiresAt.toISOString() }),
        },
        graph: {
          payload: { url: ({ url }) => url, expiresAt: ({ expiresAt }) => expiresAt },
          type: "SignedImageUrlPayload",
          inputType: "SignedImageUrlInput",
          names: { image_id: "id" },
        },
      }),
      rotateImageSigningKey: operation({
        summary: "Sign URLs with a new key",
        description:
          "URLs of the current key stay valid until they expire, the overlap ends or the next rotation; those of the previous key end now. Without an overlap all end now.",
        auth: { ...write, stepUp: true },
        audit: "image.rotate_signing_key",
        input: RotationBody,
        create: (tx, { caller, input: { overlap_seconds } }) =>
          rotateSigningKey(service, tx, caller, overlap_seconds === undefined ? undefined : seconds(overlap_seconds)),
        rest: {
          post: "/images/signing-keys/rotate",
          responses: { 201: SigningKeyView },
          answer: ({ key, older }) =>
            shown({ id: key.id, created_at: key.createdAt.toISOString(), secrets: [key, ...older].map(viewValue) }),
        },
      }),
    },
    { errors: "image", exampleIds: { image_id: imageExample.id } },
  );
}

/** A created value without a URL of its own. */
const shown = (value: unknown): HttpResponse => ({ status: 201, body: { kind: "json", value } });
