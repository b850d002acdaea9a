import type { PropertyDeclarations } from "@signalbox/config";
import type { ServiceName } from "@signalbox/core";
import type { ServiceContext, ServiceParts } from "./service-context.ts";

export interface RunService<P extends PropertyDeclarations> {
  readonly service: ServiceName;
  readonly properties: P;
  /** Imports the service, after telemetry has started. */
  readonly load: () => Promise<{ createService(context: ServiceContext<P>): Promise<ServiceParts> }>;
}

export declare function runService<P extends PropertyDeclarations>(options: RunService<P>): Promise<void>;
