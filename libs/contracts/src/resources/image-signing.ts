import { z } from "zod";
import { examples, identifier, liveValues, overlapSeconds, timestamp } from "./fields.ts";
import { imageExample } from "./image.ts";

const urlExample = {
  url: `${imageExample.url}&width=960&signature=v1.key_5Yb0cPq7TnV2sKxW9mRdLh.1767258000.l0d9Xz3yqf8cJm4bq0bW1n7v5x2c8r6t4u9k1e3h5g7`,
  expires_at: "2026-01-01T09:00:00.000Z",
};

const url = z.string().describe("Absolute URL. Treat it as a credential.");

/** A signed URL, as it is shown on its creation. */
export const SignedImageUrl = z
  .object({ url, expires_at: timestamp })
  .meta({ id: "SignedImageUrl" })
  .register(examples, { example: urlExample });

const outcome = z
  .enum(["signed", "missing"])
  .describe("`missing` for an image or a transformation that the account does not have.");
const SignedForm = z.object({ outcome, url: url.nullable() }).describe("The outcome for one rendition.");

/** Signed URLs of one request. */
export const SignedImageUrls = z
  .object({ items: z.array(SignedForm).describe("The outcomes in the order of the request."), expires_at: timestamp })
  .meta({ id: "SignedImageUrls" })
  .register(examples, {
    example: { items: [{ outcome: "signed", url: urlExample.url }], expires_at: urlExample.expires_at },
  });

/** The key of the service after a rotation. */
export const ImageSigningKeyResource = z
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

const keyExample = {
  id: "key_8Rt2Wc6NpLx4Bv9ZsQ1FhG",
  kind: "owner",
  created_at: "2026-01-01T09:00:00.000Z",
  ends_at: null,
} as const;

/** A key that signs URLs, without its secret. */
export const ListedImageSigningKey = z
  .object({
    id: identifier("The key, a part of every signature by it"),
    kind: z.enum(["service", "owner"]).describe("The holder of the secret: the service alone, or you."),
    created_at: timestamp,
    ends_at: timestamp.nullable().describe("The time when its URLs end after a rotation; null until then."),
  })
  .meta({ id: "ListedImageSigningKey", description: "A key that signs URLs of images, without its secret." })
  .register(examples, { example: keyExample });

/** A key of the owner's, as it is shown once. */
export const IssuedImageSigningKey = ListedImageSigningKey.extend({
  secret: z.string().describe("The 32 bytes of the key in base64url. Shown only once."),
})
  .meta({ id: "IssuedImageSigningKey", description: "A key with which your server signs URLs of your images." })
  .register(examples, { example: { ...keyExample, secret: "TIuaMJdROYVc1n9Zt0pWqk2sGxEfYh7vRb3CdLjXo5w" } });

/** The keys of an account. */
export const ImageSigningKeys = z
  .object({ items: z.array(ListedImageSigningKey).describe("The valid keys, newest first.") })
  .meta({ id: "ImageSigningKeys" });

/** The input of a rotation. */
export const RotateImageSigningKey = z
  .strictObject({
    overlap_seconds: overlapSeconds("URLs of the current key stay valid. Default: until they expire").optional(),
  })
  .meta({ id: "RotateImageSigningKey" })
  .register(examples, { example: { overlap_seconds: 3_600 } });
