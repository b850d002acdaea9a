import type { Configuration } from "@signalbox/config";
import type { TopicAccess } from "@signalbox/contracts";
import type { LogAccess, TopicSpec } from "./event-log.ts";
import type { topicsProperties } from "./properties.ts";

/** The topics and access rights of an installation: the catalogue, with the copies and principals of its properties. */
export function topicSettings(
  configuration: Pick<Configuration<typeof topicsProperties>, "get">,
  catalogue: { readonly topics: readonly TopicSpec[]; readonly access: readonly TopicAccess[] },
): { readonly specs: readonly TopicSpec[]; readonly access: readonly LogAccess[] } {
  const replicas = configuration.get("events.topics.replication-factor");
  const minInSync = configuration.get("events.topics.min-insync-replicas");
  const principals = configuration.get("events.principals");
  const copies = { ...(replicas !== null && { replicas }), ...(minInSync !== null && { minInSync }) };
  return {
    specs: catalogue.topics.map((spec) => ({ ...spec, ...copies })),
    access:
      principals === null
        ? []
        : catalogue.access.map(({ service, writes, reads }) => {
            return { principal: principals.replace("{service}", service), writes, reads, groupPrefix: `${service}.` };
          }),
  };
}
