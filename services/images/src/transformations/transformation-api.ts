import { examples, timestamp, viewOf } from "@signalbox/contracts";
import { created, ok, strongEtag } from "@signalbox/http";
import { type Edges, edgesOf, list, operation, record, tooMany } from "@signalbox/service";
import { z } from "zod";
import type { ImagesService } from "../context/images-service.ts";
import { TransformationForm } from "../state/content-query.ts";
import type { Transformation } from "../state/transformation-store.ts";
import { deleteTransformation, lockTransformations, setTransformation } from "./transformations.ts";

const base = "/images/transformations";
const one = `${base}/:name` as const;
const missing = "There is no such transformation.";

const formText = "The parameters of content, as a signed URL takes them.";
const eager = z.boolean().describe("Whether it is rendered for every new image; otherwise on request.");
const exampleForm = { width: 480, height: 320, fit: "cover" } as const;

const TransformationBody = z
  .strictObject({ form: TransformationForm.describe(formText), eager: eager.default(false) })
  .meta({ id: "SetImageTransformation" })
  .register(examples, { example: { form: exampleForm, eager: true } });

const TransformationView = z
  .object({
    name: z.string().describe("The name, for `transformation` in the URLs of content."),
    form: z.record(z.string(), z.unknown()).describe(formText),
    eager,
    version: z.int().describe("Grows with every change of `form`, and is part of `v` in URLs."),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "ImageTransformation", description: "A form of content that the owner of images has named." })
  .register(examples, {
    example: {
      name: "card",
      form: exampleForm,
      eager: true,
      version: 1,
      created_at: "2026-01-01T09:00:00.000Z",
      updated_at: "2026-01-01T09:00:00.000Z",
    },
  });

const view = viewOf(TransformationView, (_: Transformation) => ({}));
const etagOf = ({ id, revision }: Transformation): string => strongEtag(revision, `transformation ${id}`);

/** The transformations of an account, at both edges. */
export const transformationApi = (service: ImagesService): Edges =>
  edgesOf(Object.assign(reads(service), writes(service)), { errors: "image", exampleIds: { name: "card" } });

function reads({ transformationStore, pageLimits }: ImagesService) {
  const auth = { scopes: ["images:read"] } as const;
  return {
    imageTransformations: list({
      summary: "List the transformations of images, newest first",
      description: "Every form of content that the account has named, at most 50.",
      auth,
      limits: pageLimits,
      read: (range, { accountId }) => transformationStore.list(accountId, range),
      rest: { get: base, item: TransformationView, view },
    }),
    // The graph lists them all at once.
    imageTransformation: record({
      summary: "Read a transformation of images",
      description: "The form, whether it is eager, and its version.",
      auth,
      find: ({ caller, params }) => transformationStore.find(caller.accountId, params.name),
      missing,
      rest: { get: one, resource: TransformationView, answer: (found) => ok(view(found), { etag: etagOf(found) }) },
    }),
  };
}

function writes(service: ImagesService) {
  const auth = { scopes: ["images:write"] } as const;
  return {
    setImageTransformation: operation({
      summary: "Create or change a transformation of images",
      description:
        "Content in this form has a URL with the name alone. A change of the form applies to every image at once, and changes `v` in the URLs.",
      auth,
      audit: "image_transformation.set",
      input: TransformationBody,
      of: {
        find: (tx, { caller, params }) => lockTransformations(service, tx, caller.accountId, params.name),
        etag: ({ known }) => known && etagOf(known),
        missing,
      },
      change: (tx, locked, { caller, params: { name }, input }) =>
        setTransformation(service, tx, caller, locked, { name, ...input }),
      refusals: {
        "invalid-name": invalidName,
        "limit-reached": tooMany("name", "The account has 50 transformations; delete one that is not needed."),
      },
      rest: {
        put: one,
        responses: { 200: TransformationView, 201: TransformationView },
        answer: ({ transformation, isNew }) => {
          const etag = etagOf(transformation);
          const path = `${base}/${transformation.name}`;
          return isNew ? created(path, view(transformation), { etag }) : ok(view(transformation), { etag });
        },
      },
      graph: { payload: { imageTransformation: ({ transformation }) => transformation }, raw: ["form"] },
    }),
    deleteImageTransformation: operation({
      summary: "Delete a transformation of images",
      description: "Its URLs are refused from then on; copies in caches live until their cache lifetime ends.",
      auth,
      audit: "image_transformation.delete",
      of: {
        find: (tx, { caller, params }) => service.transformationStore.lock(tx, caller.accountId, params.name),
        etag: etagOf,
        missing,
      },
      change: (tx, transformation, { caller }) => deleteTransformation(service, tx, caller, transformation),
      rest: { delete: one, responses: { 204: "empty" } },
      graph: {
        payload: { deletedImageTransformationName: (_, { params }) => params.name },
        type: "DeleteImageTransformationPayload",
      },
    }),
  };
}

const nameRule =
  "Must have 1 to 32 lower-case letters, digits and hyphens, begin with a letter, and not be the name of a variant.";
const invalidName = {
  code: "validation_error",
  message: nameRule,
  details: [{ field: "name", code: "invalid", message: nameRule }],
} as const;
