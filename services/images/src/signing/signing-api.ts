import { exampleOf, examples, imageExample, SignedImageUrl, SignedImageUrls } from "@signalbox/contracts";
import type { HttpResponse } from "@signalbox/http";
import { type Edges, edgesOf, operation } from "@signalbox/service";
import { z } from "zod";
import type { ImagesService } from "../context/images-service.ts";
import { ContentForm, coherentForm } from "../state/content-query.ts";
import { signForms } from "./signed-urls.ts";

/** Bounds the time for which URLs are signed. */
export const signedSeconds = z.int().min(60).max(604_800);
const signedTogetherMax = 500;

const SignedItem = ContentForm.extend({
  id: z.string().min(1).max(64).optional().describe("Another image of the account. Default: the image in the path."),
}).describe("The rendition that one URL shows.");

/** The form of an image that a signed URL shows, or several, and their lifetime. */
const SignedUrlBody = coherentForm(
  ContentForm.extend({
    items: z
      .array(coherentForm(SignedItem))
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

const SignedView = z
  .union([SignedImageUrl, SignedImageUrls])
  .register(examples, { example: exampleOf(SignedImageUrl) });
const write = { scopes: ["images:write"] } as const;

/** Signed URLs at both edges. */
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
          "no-transformation": noTransformation,
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
    },
    { errors: "image", exampleIds: { image_id: imageExample.id } },
  );
}

const noTransformationMessage = "The account has no transformation with this name.";
const noTransformation = {
  code: "validation_error",
  message: noTransformationMessage,
  details: [{ field: "transformation", code: "invalid_value", message: noTransformationMessage }],
} as const;

const itemOf = (url: string | null) => ({ outcome: url === null ? "missing" : "signed", url });

/** Answers a created value without a URL of its own. */
export const shown = (value: unknown): HttpResponse => ({ status: 201, body: { kind: "json", value } });
