import type { WhyPart, WhyStep } from "@signalbox/contracts";
import { hasPrefix, linkTo, stepsOf, type WhyFinder } from "@signalbox/service";
import { type Pool, sql } from "@signalbox/storage";

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
const findImage = sql("why.image-of-job", "select id from images where account_id = $1 and render_job_id = $2");
const findRendition = sql(
  "why.rendition-of-job",
  `select (select id from images as i where i.account_id = r.account_id and i.sha256 = r.sha256 limit 1) as "imageId",
     mime_type as "mimeType", width, height, requested_at as "requestedAt", stored_at as "storedAt", attempts,
     attempted_at as "attemptedAt"
   from renditions as r where account_id = $1 and job_id = $2`,
);

/** Finds the render jobs of the worker, for the chain behind an id. An image keeps the last job of its named variants. */
export const whyRendered = (pool: Pool): readonly WhyFinder[] => [
  {
    scopes: ["images:read"],
    knows: hasPrefix("job"),
    async find({ accountId }, id): Promise<WhyPart | null> {
      const [image] = (await pool.query<{ id: string }>(findImage, [accountId, id])).rows;
      // The image has the state of the job among its own steps.
      if (image) return { steps: [], next: [linkTo(image.id)] };
      const [rendition] = (await pool.query<Requested>(findRendition, [accountId, id])).rows;
      if (rendition === undefined) return null;
      return { steps: stepsOfJob(id, rendition), next: rendition.imageId === null ? [] : [linkTo(rendition.imageId)] };
    },
  },
];

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
  return [requested, step({ at: null, id, what: "It is to be rendered.", verdict: "waiting", reason })];
}
