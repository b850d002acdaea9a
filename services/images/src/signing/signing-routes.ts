import { examples, identifier, imageExample, liveValues, overlapSeconds, timestamp } from "@signalbox/contracts";
import { seconds } from "@signalbox/core";
import { createRoutes, type HttpResponse, type Routes, refused } from "@signalbox/http";
import { viewValue } from "@signalbox/storage";
import { z } from "zod";
import type { ImageStore } from "../images/image-store.ts";
import { SignedUrlBody, splitSignedUrlBody } from "./signed-url-body.ts";
import type { SignedUrls } from "./signed-urls.ts";
import type { SigningKeys } from "./signing-keys.ts";

interface Dependencies {
  readonly imageStore: ImageStore;
  readonly signedUrls: SignedUrls;
  readonly signingKeys: SigningKeys;
  readonly maySign: () => boolean;
}

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

/** The routes of signed URLs and their keys. */
export function signingRoutes(dependencies: Dependencies) {
  const routes = createRoutes({ errors: "image", exampleIds: { image_id: imageExample.id } });
  declareSignedUrls(routes, dependencies);
  declareKeys(routes, dependencies);
  return routes;
}

function declareSignedUrls(routes: Routes, { imageStore, signedUrls, maySign }: Dependencies): void {
  routes.post("/images/:image_id/signed-urls", {
    operationId: "createSignedImageUrl",
    summary: "Sign a URL of an image",
    description:
      "Everyone with the URL sees the image in exactly this form until it expires. Within a window of at most a quarter of its life the same request gives the same URL, so that caches share it.",
    auth: { scopes: ["images:write"] },
    audit: "image.sign_url",
    body: SignedUrlBody,
    responses: { 201: SignedUrlView, 403: "error", 404: "error" },
    async handle({ caller, params, body }) {
      if (!maySign()) return refused(403, "forbidden", { message: "Signed URLs are switched off." });
      const image = await imageStore.findOwn(caller.accountId, params.image_id);
      if (!image) return refused(404, "not_found");
      const { parameters, livesSeconds } = splitSignedUrlBody(body);
      const { url, expiresAt } = await signedUrls.create(caller, image, parameters, livesSeconds);
      return shown({ url, expires_at: expiresAt.toISOString() });
    },
  });
}

function declareKeys(routes: Routes, { signingKeys }: Dependencies): void {
  routes.post("/images/signing-keys/rotate", {
    operationId: "rotateImageSigningKey",
    summary: "Sign URLs with a new key",
    description:
      "URLs of the current key stay valid until they expire, the overlap ends or the next rotation; those of the previous key end now. Without an overlap all end now.",
    auth: { scopes: ["images:write"], stepUp: true },
    audit: "image.rotate_signing_key",
    body: RotationBody,
    responses: { 201: SigningKeyView },
    create: {
      run: (tx, { caller, body: { overlap_seconds } }) =>
        signingKeys.rotate(tx, caller, overlap_seconds === undefined ? undefined : seconds(overlap_seconds)),
      answer: ({ key, older }) =>
        shown({ id: key.id, created_at: key.createdAt.toISOString(), secrets: [key, ...older].map(viewValue) }),
    },
  });
}

/** A created value without a URL of its own. */
const shown = (value: unknown): HttpResponse => ({ status: 201, body: { kind: "json", value } });
