import { examples, identifier, imageExample, liveValues, overlapSeconds, timestamp } from "@signalbox/contracts";
import { seconds } from "@signalbox/core";
import type { HttpResponse } from "@signalbox/http";
import { type Edges, edgesOf, operation } from "@signalbox/service";
import { viewValue } from "@signalbox/storage";
import { z } from "zod";
import type { ImagesService } from "../context/images-service.ts";
import { ContentForm } from "../state/content-query.ts";
import { sideMax } from "../state/image.ts";
import { rotateSigningKey, signForms } from "./signed-urls.ts";

const isWithin = (length = 0, dpr = 1) => Math.round(length * dpr) <= sideMax;
const tooLarge = (path: "width" | "height") => ({
  message: `Multiplied by \`dpr\` it must be at most ${sideMax}.`,
  path: [path],
  params: { code: "too_big" },
});
type Sides = Pick<z.output<typeof ContentForm>, "width" | "height" | "dpr">;
const withinSides = <Form extends z.ZodType<Sides>>(form: Form) =>
  form
    .refine(({ width, dpr }) => isWithin(width, dpr), tooLarge("width"))
    .refine(({ height, dpr }) => isWithin(height, dpr), tooLarge("height"));

/** Bounds the time for which URLs are signed. */
export const signedSeconds = z.int().min(60).max(604_800);
const signedTogetherMax = 500;

const SignedItem = ContentForm.extend({
  id: z.string().min(1).max(64).optional().describe("Another image of the account. Default: the image in the path."),
}).describe("The rendition that one URL shows.");

/** The form of an image that a signed URL shows, or several, and their lifetime. */
const SignedUrlBody = withinSides(
  ContentForm.extend({
    items: z
      .array(withinSides(SignedItem))
      .min(1)
      .max(signedTogetherMax)
      .optional()
      .describe("Up to 500 renditions that each get a URL, instead of a single one."),
    expires_in_seconds: signedSeconds.describe("A minute to a week."),
  }),
)
  .superRefine(({ items, expires_in_seconds: _, ...form }, { addIssue }) => {
    const given = items ? Object.entries(form).filter(([, value]) => value !== undefined) : [];
    const message = "Cannot be combined with items.";
    for (const [name] of given) addIssue({ code: "custom", path: [name], message, params: { code: "invalid" } });
  })
  .meta({ id: "SignedImageUrlRequest" })
  .register(examples, { example: { width: 960, format: "webp", expires_in_seconds: 3600 } });

const signedExample = {
  url: `${imageExample.url}&width=960&signature=v1.key_5Yb0cPq7TnV2sKxW9mRdLh.1767258000.l0d9Xz3yqf8cJm4bq0bW1n7v5x2c8r6t4u9k1e3h5g7`,
  expires_at: "2026-01-01T09:00:00.000Z",
};

const url = z.string().describe("Absolute URL. Treat it as a credential.");
const SignedUrlView = z
  .object({ url, expires_at: timestamp })
  .meta({ id: "SignedImageUrl" })
  .register(examples, { example: signedExample });

const outcome = z.enum(["signed", "missing"]).describe("`missing` for an image that the account does not have.");
const SignedForm = z.object({ outcome, url: url.nullable() }).describe("The outcome for one rendition.");
const SignedUrlsView = z
  .object({ items: z.array(SignedForm).describe("The outcomes in the order of the request."), expires_at: timestamp })
  .meta({ id: "SignedImageUrls" })
  .register(examples, {
    example: { items: [{ outcome: "signed", url: signedExample.url }], expires_at: signedExample.expires_at },
  });

const RotationBody = z
  .strictObject({
    overlap_seconds: overlapSeconds("URLs of the current key stay valid. Default: until they expire").optional(),
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

const SignedView = z.union([SignedUrlView, SignedUrlsView]).register(examples, { example: signedExample });
const write = { scopes: ["images:write"] } as const;

/** Signed URLs at both edges, and the keys that sign them, which are rotated over REST alone. */
export function signingApi(service: ImagesService): Edges {
  return edgesOf(
    {
      createSignedImageUrl: operation({
        summary: "Sign URLs of an image",
        description:
          "Anyone with a URL can see exactly this rendition until the URL expires. Within a window of at most a quarter of its lifetime the same request returns the same URL, so that caches can share it. `items` signs many URLs at once, also of other images, with one audit entry.",
        auth: write,
        audit: "image.sign_url",
        input: SignedUrlBody,
        act: ({ caller, params, input: { expires_in_seconds: livesSeconds, items, ...form } }) =>
          signForms(service, caller, params.image_id, items ?? [form], livesSeconds),
        refusals: {
          "switched-off": { code: "forbidden", message: "Signed URLs are switched off." },
          missing: { code: "not_found", message: "There is no such image." },
        },
        rest: {
          post: "/images/:image_id/signed-urls",
          responses: { 201: SignedView },
          answer: ({ urls, expiresAt }, { input: { items } }) => {
            const made = items ? { items: urls.map(itemOf) } : { url: urls[0] };
            return shown({ ...made, expires_at: expiresAt.toISOString() });
          },
        },
        graph: {
          payload: {
            url: ({ urls }, { input: { items } }) => (items ? null : urls[0]),
            items: ({ urls }, { input: { items } }) => (items ? urls.map(itemOf) : null),
            expiresAt: ({ expiresAt }) => expiresAt,
          },
          type: "SignedImageUrlPayload",
          inputType: "SignedImageUrlInput",
          names: { image_id: "id" },
        },
      }),
      rotateImageSigningKey: operation({
        summary: "Rotate the key that signs URLs",
        description:
          "URLs of the current key stay valid until they expire, the overlap ends or the key is rotated again; those of the previous key stop working now. With an overlap of 0, all stop working now.",
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

const itemOf = (url: string | null) => ({ outcome: url === null ? "missing" : "signed", url });

/** A created value without a URL of its own. */
const shown = (value: unknown): HttpResponse => ({ status: 201, body: { kind: "json", value } });
