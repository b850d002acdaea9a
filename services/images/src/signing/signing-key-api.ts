import {
  exampleOf,
  ImageSigningKeyResource,
  ImageSigningKeys,
  IssuedImageSigningKey,
  ListedImageSigningKey,
  RotateImageSigningKey,
} from "@signalbox/contracts";
import { seconds } from "@signalbox/core";
import { type HttpResponse, ok } from "@signalbox/http";
import { type Edges, edgesOf, operation, tooMany } from "@signalbox/service";
import { type SigningKey, viewValue } from "@signalbox/storage";
import type { z } from "zod";
import type { ImagesService } from "../context/images-service.ts";
import { shown } from "./signing-api.ts";
import {
  createOwnerKey,
  deleteSigningKey,
  isOfOwner,
  ownKey,
  rotateOwnerKey,
  rotateSigningKey,
} from "./signing-keys.ts";

/** Keys grant access to every image of the account. */
const keyWrite = { scopes: ["images:write"], stepUp: true } as const;
const base = "/images/signing-keys";

/** The keys that sign URLs, over REST alone. */
export function signingKeyApi(service: ImagesService): Edges {
  const exampleIds = { key_id: exampleOf(ListedImageSigningKey).id };
  const edges = edgesOf(
    {
      rotateImageSigningKey: operation({
        summary: "Rotate the key that signs URLs",
        description:
          "URLs of the current key stay valid until they expire, the overlap ends or the key is rotated again; those of the previous key stop working now. With an overlap of 0, all stop working now.",
        auth: keyWrite,
        audit: "image.rotate_signing_key",
        input: RotateImageSigningKey,
        create: (tx, { caller, input }) => rotateSigningKey(service, tx, caller, overlapMsOf(input)),
        rest: {
          post: `${base}/rotate`,
          responses: { 201: ImageSigningKeyResource },
          answer: ({ key, older }) =>
            shown({ id: key.id, created_at: key.createdAt.toISOString(), secrets: [key, ...older].map(viewValue) }),
        },
      }),
      ...ownerKeyOperations(service),
    },
    { errors: "image", exampleIds },
  );
  edges.routes.get(base, {
    operationId: "imageSigningKeys",
    summary: "List the keys that sign URLs, newest first",
    description: "Without their secrets: those of the service, and those that you hold.",
    auth: { scopes: keyWrite.scopes },
    responses: { 200: ImageSigningKeys },
    async handle({ principal }) {
      const live = await service.signingKeyStore.list(principal.accountId);
      return ok({ items: live.map(viewKey) });
    },
  });
  return edges;
}

function ownerKeyOperations(service: ImagesService) {
  return {
    createImageSigningKey: operation({
      summary: "Create a key with which you sign URLs yourself",
      description: "The answer shows the secret once. An account holds at most two such keys.",
      auth: keyWrite,
      audit: "image_signing_key.create",
      create: (tx, { caller }) => createOwnerKey(service, tx, caller),
      refusals: { "limit-reached": tooManyKeys },
      rest: { post: base, responses: { 201: IssuedImageSigningKey }, idempotent: "sealed", answer: issued },
    }),
    rotateOwnImageSigningKey: operation({
      summary: "Rotate a key that you hold",
      description:
        "The answer shows the new secret once. URLs of the old key stay valid until they expire or the overlap ends; with an overlap of 0, those of every replaced key stop working now.",
      auth: keyWrite,
      audit: "image_signing_key.rotate",
      input: RotateImageSigningKey,
      of: ownKey(service, isOfOwner),
      change: (tx, key, { caller, input }) => rotateOwnerKey(service, tx, caller, key, overlapMsOf(input)),
      refusals: { "limit-reached": tooManyKeys },
      rest: {
        post: `${base}/:key_id/rotate`,
        responses: { 201: IssuedImageSigningKey },
        idempotent: "sealed",
        answer: issued,
      },
    }),
    deleteImageSigningKey: operation({
      summary: "Delete a key that signs URLs",
      description:
        "Its URLs stop working everywhere within two seconds. The service replaces its own key at the next signature.",
      auth: keyWrite,
      audit: "image_signing_key.delete",
      of: ownKey(service),
      change: (tx, key, { caller }) => deleteSigningKey(service, tx, caller, key),
      rest: { delete: `${base}/:key_id`, responses: { 204: "empty" }, idempotent: true },
    }),
  };
}

const overlapMsOf = ({ overlap_seconds }: z.output<typeof RotateImageSigningKey>): number | undefined =>
  overlap_seconds === undefined ? undefined : seconds(overlap_seconds);

const tooManyKeys = ({ max }: { readonly max: number }) =>
  tooMany(
    "signing_keys",
    `The account holds ${max} signing keys: delete one, wait until one ends, or rotate with an overlap of 0 seconds.`,
  );

const viewKey = (key: SigningKey) => ({ ...viewValue(key), kind: key.kind });

/** Shows a new key with its secret, the only time. */
const issued = ({ key }: { readonly key: SigningKey }): HttpResponse =>
  shown({ ...viewKey(key), secret: key.secret.toString("base64url") });
