import type { Runner } from "@signalbox/runtime";
import type { Logger } from "@signalbox/telemetry";
import type { ObjectStore } from "./object-store.ts";

export interface ObjectStoreOptions {
  /** `file:<folder>`, or `s3://host:port/bucket?region=…` (`s3+http://` or `tls=false` without TLS). */
  readonly url: string;
  readonly accessKey: string | null;
  readonly secretKey: string | null;
  readonly runner: Pick<Runner, "defer">;
  readonly log: Logger;
}

export declare function openObjectStore(options: ObjectStoreOptions): Promise<ObjectStore>;
