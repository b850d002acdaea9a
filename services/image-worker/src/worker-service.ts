import type { Clock } from "@signalbox/core";
import type { EventLog } from "@signalbox/events";
import type { ImagePool } from "@signalbox/imaging";
import type { Logger, Tracer } from "@signalbox/runtime";
import type { ObjectFiles, ObjectStore } from "@signalbox/storage";

/** The context of the worker's operations. `service.ts` fills it once, at the start. */
export interface WorkerService {
  readonly clock: Clock;
  readonly log: Logger;
  readonly tracer: Tracer;
  readonly eventLog: EventLog;
  /** The bytes of originals and of renditions. */
  readonly objects: ObjectStore;
  /** The same bytes for programs that work with files. */
  readonly objectFiles: ObjectFiles;
  /** The processes that decode images. */
  readonly imagePool: ImagePool;
}
