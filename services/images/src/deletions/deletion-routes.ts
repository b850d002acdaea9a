import { ImageDeletionResource, imageExample } from "@signalbox/contracts";
import { createRoutes, ok, refused } from "@signalbox/http";
import { type Deletions, viewDeletion } from "./deletions.ts";

interface Dependencies {
  readonly deletions: Deletions;
}

/** The receipts of deleted images. */
export function deletionRoutes({ deletions }: Dependencies) {
  const routes = createRoutes({ errors: "image", exampleIds: { image_id: imageExample.id } });

  routes.get("/images/deletions/:image_id", {
    operationId: "imageDeletion",
    summary: "Read the receipt of a deletion",
    description:
      "What was erased, how many bytes and when, and what stayed because another image of the account needs it.",
    auth: { scopes: ["images:read"] },
    responses: { 200: ImageDeletionResource, 404: "error" },
    async handle({ principal, params }) {
      const deletion = await deletions.findOwn(principal.accountId, params.image_id);
      return deletion ? ok(viewDeletion(deletion)) : refused(404, "not_found");
    },
  });

  return routes;
}
