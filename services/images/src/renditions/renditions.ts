import { type Clock, minutes, newId } from "@signalbox/core";
import type { Outbox, ReceivedEvent } from "@signalbox/events";
import { type Rendition, renditionKey } from "@signalbox/imaging";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import { LRUCache } from "lru-cache";
import type { Image } from "../images/image.ts";
import type { ImageStore } from "../images/image-store.ts";
import type { ImageEvents } from "../images/image-view.ts";
import { chooseRendition, type RenditionChoice } from "./choose-rendition.ts";
import type { ContentQuery } from "./content-query.ts";
import { renderDueAt, renderRequested, singleRenderRequested } from "./render-job.ts";
import type { RenditionStore } from "./rendition-store.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly imageStore: ImageStore;
  readonly renditionStore: RenditionStore;
  readonly outbox: Pick<Outbox, "append">;
  readonly events: ImageEvents;
  readonly clock: Clock;
  readonly isAvifOffered: () => boolean;
  /** The largest AVIF, in pixels, that is made while a caller waits. */
  readonly avifPixelsMax: () => number;
  readonly attemptsMax: () => number;
  /** How long a render job is waited for before it goes out again. */
  readonly lostAfterMs: () => number;
}

export type Renditions = ReturnType<typeof createRenditions>;

/** Longer than any job takes; a request older than this was lost and may be repeated. */
const staleAfterMs = minutes(10);

/** A job that went out this often, the last twenty times an hour apart, is not going to be answered. */
const issuesMax = 24;
/** As many lost jobs as go out in one transaction. */
const issuedTogether = 100;

/** Renditions of images: which one a request gets, which ones the worker is asked for, what its answers mean. */
export function createRenditions(dependencies: Dependencies) {
  const { pool, imageStore, renditionStore, outbox, events, clock } = dependencies;
  // When each was last requested: it saves the round trip to the database, which decides.
  const requested = new LRUCache<string, number>({ max: 10_000 });

  async function issue(tx: Tx, image: Image): Promise<void> {
    const dueAt = renderDueAt(clock.now(), image.renderIssues, dependencies.lostAfterMs());
    await imageStore.save(tx, { ...image, renderDueAt: dueAt });
    await outbox.append(tx, [renderRequested(image)]);
  }

  async function fail(tx: Tx, image: Image, reason: string): Promise<void> {
    const failed = { ...image, status: "failed", revision: image.revision + 1n, updatedAt: clock.now() } as const;
    await imageStore.save(tx, failed);
    await outbox.append(tx, [events.processingFailed(failed, reason)]);
  }

  return {
    /** Chooses what to show, from the record and the request alone: no bytes are touched, so a 304 costs next to nothing. */
    async choose(image: Image, query: ContentQuery, accept: string | undefined): Promise<RenditionChoice> {
      const request = { query, accept, isAvifOffered: dependencies.isAvifOffered() };
      const choice = chooseRendition(image, request, dependencies.avifPixelsMax());
      const awaited = awaitedOf(choice);
      const isStored = awaited !== null && (await renditionStore.isStored(renditionKey(image.sha256, awaited)));
      return isStored ? chooseRendition(image, request, Number.POSITIVE_INFINITY) : choice;
    },

    /** Asks the worker for a rendition, once however many callers want it. */
    async request(image: Image, rendition: Rendition): Promise<void> {
      const key = renditionKey(image.sha256, rendition);
      const now = clock.now();
      const staleBefore = new Date(now.getTime() - staleAfterMs);
      if ((requested.get(key) ?? 0) > staleBefore.getTime()) return;
      await inTransaction(pool, async (tx) => {
        const isFirst = await renditionStore.claimRequest(tx, { key, sha256: image.sha256, now, staleBefore });
        if (isFirst) await outbox.append(tx, [singleRenderRequested(image, rendition)]);
      });
      requested.set(key, now.getTime());
    },

    /**
     * Takes the worker's answer: an image whose named variants are stored becomes ready, once; a job that failed is asked
     * for again while attempts are left, and then the image counts as failed. Answers about single renditions are only noted.
     */
    async settle(tx: Tx, result: ReceivedEvent<"image.rendered">["data"]): Promise<void> {
      const image = await imageStore.lock(tx, result.image_id);
      if (!image) return;
      const now = clock.now();
      for (const stored of result.renditions) await renditionStore.save(tx, image.sha256, stored, now);
      if (image.status !== "processing" || result.job_id !== image.renderJobId) return;

      if (result.outcome === "rendered") {
        const placeholder = image.placeholder ?? result.placeholder;
        const changed = placeholder === image.placeholder ? ["status"] : ["status", "placeholder"];
        const revision = image.revision + 1n;
        const ready = { ...image, revision, updatedAt: now, status: "ready", placeholder } as const;
        await imageStore.save(tx, ready);
        await outbox.append(tx, [events.renditionReady(ready, changed)]);
      } else if (result.failure?.retryable && image.renderAttempt < dependencies.attemptsMax()) {
        await issue(tx, {
          ...image,
          renderJobId: newId("job"),
          renderAttempt: image.renderAttempt + 1,
          renderIssues: 1,
        });
      } else await fail(tx, image, result.failure?.code ?? "unknown");
    },

    /**
     * Sends out again the jobs that nobody answered in time: the same jobs, since their answers may still come. Tells how
     * many there were.
     */
    reissueLost: (): Promise<number> =>
      inTransaction(pool, async (tx) => {
        const lost = await imageStore.lockLost(tx, clock.now(), issuedTogether);
        for (const image of lost) {
          if (image.renderIssues < issuesMax) await issue(tx, { ...image, renderIssues: image.renderIssues + 1 });
          else await fail(tx, image, "lost");
        }
        return lost.length;
      }),
  };
}

/** The rendition that would be shown if it were stored. */
function awaitedOf(choice: RenditionChoice): Rendition | null {
  if (choice.outcome === "only-later") return choice.rendition;
  return choice.outcome === "chosen" ? choice.later : null;
}
