import type { Caller, Viewer } from "@signalbox/auth";
import { AppError } from "@signalbox/core";
import type { Endpoint } from "./endpoint.ts";
import type { GivenSettings } from "./endpoint-settings.ts";

/** Settings of the account that has the portal: keys of its own systems, not a matter of the subscriber. */
const operatorSettings = ["headers", "metadata"] as const;

/** Returns the endpoint as its subscriber may see it: without its headers and its metadata. */
export const endpointOfSubscriber = <Shown extends Endpoint>(endpoint: Shown): Shown => ({
  ...endpoint,
  settings: { ...endpoint.settings, headers: [], metadata: {} },
});

/** Returns the endpoint as the viewer may see it; a portal session is its subscriber's. */
export const endpointFor = <Shown extends Endpoint>({ portal }: Viewer, endpoint: Shown): Shown =>
  portal ? endpointOfSubscriber(endpoint) : endpoint;

/** Returns the settings that the caller may write. @throws AppError `forbidden` for others of a portal session */
export function writableSettings({ portal }: Caller, given: GivenSettings): GivenSettings {
  if (!portal) return given;
  const written = operatorSettings.filter((name) => Object.keys(given[name] ?? {}).length > 0);
  if (written.length > 0) {
    const message = "A portal session cannot set headers or metadata; ask the account that created it.";
    const details = written.map((name) => ({ field: `settings.${name}`, code: "portal_session" as const, message }));
    throw new AppError("forbidden", message, { details });
  }
  const { headers: _, metadata: __, ...others } = given;
  return others;
}
