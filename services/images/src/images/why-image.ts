import { eventsAbout, hasPrefix, stepsOf, type WhyFinder } from "@signalbox/service";
import type { ImagesService } from "../images-service.ts";
import { findDeletion } from "./deletion-store.ts";
import type { Image } from "./image.ts";

const step = stepsOf("images");

/** Finds what became of images and of their renditions, for the chain behind an id. */
export const whyImage = ({ pool, imageStore }: ImagesService): readonly WhyFinder[] => [
  {
    scopes: ["images:read"],
    knows: hasPrefix("img"),
    async find({ accountId }, id) {
      const image = await imageStore.findOwn(accountId, id);
      const next = [eventsAbout(id)];
      if (image) return { steps: stepsOfImage(image), next };
      const deletion = await findDeletion(pool, id);
      if (deletion?.accountId !== accountId) return null;
      const { deletedAt, deletedBy, erasedAt, isOriginalKept } = deletion;
      const deleted = step({
        at: deletedAt,
        id,
        what: "The image was deleted.",
        by: deletedBy,
        link: `/images/deletions/${id}`,
      });
      const erased = erasedAt
        ? step({
            at: erasedAt,
            id,
            what: isOriginalKept ? "Its bytes were kept for another image." : "Its bytes were erased.",
          })
        : step({ at: null, id, what: "Its bytes are to be erased.", verdict: "waiting" });
      return { steps: [deleted, erased], next };
    },
  },
];

function stepsOfImage({ id, createdAt, updatedAt, status, failureCode, failedAt, renderJobId, renderAttempt }: Image) {
  const link = `/images/${id}`;
  const created = step({ at: createdAt, id, what: "The image was stored.", link });
  const job = { id: renderJobId, link };
  if (status === "failed") {
    const reason = failureCode ?? "unknown";
    const what = `Its named variants were not rendered, in attempt ${renderAttempt}.`;
    return [created, step({ ...job, at: failedAt ?? updatedAt, what, verdict: "failed", reason })];
  }
  if (status === "processing") {
    const what = "Its named variants are being rendered.";
    return [created, step({ ...job, at: null, what, verdict: "waiting", reason: "waiting: for the image worker" })];
  }
  return [created, step({ ...job, at: null, what: "Its named variants are rendered." })];
}
