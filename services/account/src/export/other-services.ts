import type { Properties } from "@signalbox/account-service/properties";
import { internalTokenHeader } from "@signalbox/auth";
import { KiB, MiB, seconds } from "@signalbox/core";
import { createInternalClient, type InternalClient } from "@signalbox/net";
import type { ServiceContext } from "@signalbox/runtime";
import type { OtherService } from "../context/account-service.ts";

/** Opens a client for each service with a configured address: for exports, and for questions within a request. */
export function openOtherServices({ configuration, runner }: ServiceContext<Properties>) {
  const open = (name: string, service: OtherService, limits: typeof ofExports): InternalClient | null => {
    const url = configuration.get(`${service}.internal-url`);
    if (url === null) return null;
    const headers = () => ({ [internalTokenHeader]: configuration.get("internal.token")[0] ?? "" });
    const client = createInternalClient({ url, headers, ...limits });
    runner.defer(name, () => client.close());
    return client;
  };
  return {
    otherServices: {
      images: open("images client", "images", ofExports),
      "webhook-ingest": open("webhook_sources client", "webhook-ingest", ofExports),
      "webhook-delivery": open("webhook_endpoints client", "webhook-delivery", ofExports),
    },
    endpointClient: open("endpoint check", "webhook-delivery", ofQuestions),
  };
}

const ofExports = { deadlineMs: seconds(10), responseBytesMax: 16 * MiB };
const ofQuestions = { deadlineMs: seconds(5), responseBytesMax: 64 * KiB };
