import type { WhyPart, WhyStep } from "@signalbox/contracts";
import { eventsAbout, hasPrefix, linkTo, stepsOf, type WhyFinder } from "@signalbox/service";
import { sql } from "@signalbox/storage";
import type { ImagesService } from "../context/images-service.ts";
import type { Image } from "../state/image.ts";
import { findOwnDeletion } from "./deletion-store.ts";

/** A rendition that was requested from the worker, with an image that has its original. */
interface Requested {
  readonly imageId: string | null;
  readonly mimeType: string | null;
  readonly width: number | null;
  readonly height: number | null;
  readonly requestedAt: Date;
  readonly storedAt: Date | null;
  readonly attempts: number;
  readonly attemptedAt: Date | null;
}

const step = stepsOf("images");
const statements = {
  imageOfJob: sql("why.image-of-job", "select id from images where account_id = $1 and render_job_id = $2"),
  renditionOfJob: sql(
    "why.rendition-of-job",
    `select (select id from images as i where i.account_id = r.account_id and i.sha256 = r.sha256 limit 1) as "imageId",
     mime_type as "mimeType", width, height, requested_at as "requestedAt", stored_at as "storedAt", attempts,
     attempted_at as "attemptedAt"
   from renditions as r where account_id = $1 and job_id = $2`,
  ),
};

/** Finds what became of images and of their renditions, for the chain behind an id. */
export const whyImages = (service: ImagesService): readonly WhyFinder[] => [whyImage(service), whyRendered(service)];

/** Finds what became of an image. */
const whyImage = ({ pool, imageStore }: ImagesService): WhyFinder => ({
  scopes: ["images:read"],
  knows: hasPrefix("img"),
  async find({ accountId }, id) {
    const image = await imageStore.findOwn(accountId, id);
    const next = [eventsAbout(id)];
    if (image) return { steps: stepsOfImage(image), next };
    const deletion = await findOwnDeletion(pool, accountId, id);
    if (!deletion) return null;
    const { deletedAt, deletedBy, erasedAt, isOriginalKept } = deletion;
    const link = `/images/deletions/${id}`;
    const deleted = step({ at: deletedAt, id, what: "The image was deleted.", by: deletedBy, link });
    const what = isOriginalKept ? "Its bytes were kept for another image." : "Its bytes were erased.";
    const erased = erasedAt
      ? step({ at: erasedAt, id, what })
      : step({ at: null, id, what: "Its bytes will be erased.", verdict: "waiting" });
    return { steps: [deleted, erased], next };
  },
});

function stepsOfImage({ id, createdAt, updatedAt, status, failureCode, failedAt, renderJobId, renderAttempt }: Image) {
  const link = `/images/${id}`;
  const created = step({ at: createdAt, id, what: "The image was stored.", link });
  const job = { id: renderJobId, link };
  if (status === "failed") {
    const reason = failureCode ?? "unknown";
    const what = `Its named variants could not be rendered, in attempt ${renderAttempt}.`;
    return [created, step({ ...job, at: failedAt ?? updatedAt, what, verdict: "failed", reason })];
  }
  if (status === "processing") {
    const what = "Its named variants are being rendered.";
    return [created, step({ ...job, at: null, what, verdict: "waiting", reason: "waiting: for the image worker" })];
  }
  return [created, step({ ...job, at: null, what: "Its named variants are rendered." })];
}

/** Finds the render jobs of the worker; an image keeps the last job of its named variants. */
const whyRendered = ({ pool }: ImagesService): WhyFinder => ({
  scopes: ["images:read"],
  knows: hasPrefix("job"),
  async find({ accountId }, id): Promise<WhyPart | null> {
    const [image] = (await pool.query<{ id: string }>(statements.imageOfJob, [accountId, id])).rows;
    // The image has the state of the job among its own steps.
    if (image) return { steps: [], next: [linkTo(image.id)] };
    const [rendition] = (await pool.query<Requested>(statements.renditionOfJob, [accountId, id])).rows;
    if (rendition === undefined) return null;
    return { steps: stepsOfJob(id, rendition), next: rendition.imageId === null ? [] : [linkTo(rendition.imageId)] };
  },
});

function stepsOfJob(id: string, { requestedAt, storedAt, attempts, attemptedAt, ...rendition }: Requested): WhyStep[] {
  const requested = step({ at: requestedAt, id, what: "A rendition was requested from the worker." });
  if (storedAt) {
    const { mimeType, width, height } = rendition;
    return [requested, step({ at: storedAt, id, what: `It was stored: ${width}x${height}, ${mimeType}.` })];
  }
  if (attempts > 0 && attemptedAt) {
    return [requested, step({ at: attemptedAt, id, what: "It could not be rendered.", verdict: "failed" })];
  }
  const reason = "waiting: for the image worker";
  return [requested, step({ at: null, id, what: "It will be rendered.", verdict: "waiting", reason })];
}
