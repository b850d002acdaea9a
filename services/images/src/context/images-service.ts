import type { AccessStates } from "@signalbox/auth";
import type { Clock } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import type { PageLimits } from "@signalbox/http";
import type { StagingArea } from "@signalbox/http/uploads";
import type { Properties } from "@signalbox/images-service/properties";
import type { ImagePool } from "@signalbox/imaging";
import type { OutboundClient } from "@signalbox/net";
import type { Configuration, Counter, Logger, Tracer, WakeUp } from "@signalbox/runtime";
import type { Cache, ObjectFiles, ObjectStore, Pool, SigningKeyStore } from "@signalbox/storage";
import type { ContentCache } from "../state/content-cache.ts";
import type { ImageStore } from "../state/image-store.ts";
import type { RenderBudget } from "../state/render-budget.ts";
import type { RenditionMemory } from "../state/rendition-memory.ts";
import type { TransformationStore } from "../state/transformation-store.ts";
import type { UploadTarget } from "../state/upload-target.ts";
import type { ImageStatistics } from "../statistics/image-statistics.ts";

/** The context of this service's operations. `service.ts` fills it once, at the start. */
export interface ImagesService {
  /** Live properties are read where they act. */
  readonly configuration: Configuration<Properties>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tracer: Tracer;

  readonly pool: Pool;
  readonly outbox: Outbox;
  readonly cache: Cache;
  readonly accessStates: AccessStates;
  readonly pageLimits: PageLimits;

  /** The bytes of originals and of renditions. */
  readonly objects: ObjectStore;
  /** The same bytes for programs that work with files. */
  readonly objectFiles: ObjectFiles;
  /** Received files that wait to be judged. */
  readonly staging: StagingArea;
  /** The bytes of direct uploads until they are judged. */
  readonly uploadTarget: UploadTarget;
  /** The processes that decode images. */
  readonly imagePool: ImagePool;
  /** Fetches imports, behind the outbound guard. */
  readonly outbound: OutboundClient;

  readonly imageStore: ImageStore;
  readonly signingKeyStore: SigningKeyStore;
  readonly transformationStore: TransformationStore;
  readonly renditionMemory: RenditionMemory;
  readonly renderBudget: RenderBudget;
  readonly contentCache: ContentCache;
  readonly imageStatistics: ImageStatistics;
  readonly directUploadsTotal: Counter<"outcome">;

  /** Woken when bytes of a deleted image wait for erasure. */
  readonly eraseWakeUp: WakeUp;
  /** Woken when bytes of a direct upload are no longer needed. */
  readonly sweepUploadsWakeUp: WakeUp;
}
