import type { ServiceContext } from "@signalbox/runtime";
import type { HttpProperties } from "../properties.ts";

type Context = ServiceContext<HttpProperties>;

/** The part of a `ServiceContext` that the edge needs; every service's own context fits. */
export interface HttpContext extends Pick<Context, "service" | "log" | "tracer" | "metrics" | "clock"> {
  readonly configuration: Pick<Context["configuration"], "get" | "onChange">;
}
