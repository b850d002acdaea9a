import { internalTokenHeader } from "@signalbox/auth";
import { KnownEndpoints, knownEndpointsPath } from "@signalbox/contracts";
import { AppError, KiB, seconds } from "@signalbox/core";
import { createInternalClient, sendTwice } from "@signalbox/net";
import type { ServiceContext } from "@signalbox/runtime";
import type { Properties } from "../properties.ts";

/** Throws `validation_error` for endpoints that the account does not have. */
export type EndpointCheck = (accountId: string, endpointIds: readonly string[]) => Promise<void>;

/** Opens the client that asks webhook-delivery; without its address every id passes, and opens nothing. */
export function openEndpointCheck({
  configuration,
  runner,
}: Pick<ServiceContext<Properties>, "configuration" | "runner">): EndpointCheck {
  const url = configuration.get("webhook-delivery.internal-url");
  if (url === null) return async () => {};
  const headers = () => ({ [internalTokenHeader]: configuration.get("internal.token")[0] ?? "" });
  const client = createInternalClient({ url, headers, deadlineMs: seconds(5), responseBytesMax: 64 * KiB });
  runner.defer("endpoint check", () => client.close());

  return async (accountId, endpointIds) => {
    const path = knownEndpointsPath.replace(":account_id", encodeURIComponent(accountId));
    const question = JSON.stringify({ endpoint_ids: endpointIds });
    const { status, body } = await sendTwice(() => client.post(path, question));
    if (status !== 200) throw new AppError("unavailable", `The webhook-delivery service answered ${status}.`);
    const known = new Set(KnownEndpoints.parse(JSON.parse(body.toString())).endpoint_ids);
    const details = endpointIds.flatMap((id, index) =>
      known.has(id)
        ? []
        : [
            {
              field: `endpoint_ids[${index}]`,
              code: "invalid_value",
              message: `The account has no endpoint ${id}.`,
            } as const,
          ],
    );
    if (details.length > 0)
      throw new AppError("validation_error", "A portal session names existing endpoints.", { details });
  };
}
