import { KnownEndpoints, knownEndpointsPath } from "@signalbox/contracts";
import { AppError } from "@signalbox/core";
import { sendTwice } from "@signalbox/net";
import type { AccountService } from "../context/account-service.ts";

/**
 * Asks webhook-delivery for endpoints that the account does not have; without its address every id passes.
 *
 * @throws AppError `validation_error` that names each of them
 */
export async function checkEndpoints(
  { endpointClient: client }: AccountService,
  accountId: string,
  endpointIds: readonly string[],
): Promise<void> {
  if (client === null) return;
  const path = knownEndpointsPath.replace(":account_id", encodeURIComponent(accountId));
  const question = JSON.stringify({ endpoint_ids: endpointIds });
  const { status, body } = await sendTwice(() => client.post(path, question));
  if (status !== 200) throw new AppError("unavailable", `The webhook-delivery service answered ${status}.`);
  const known = new Set(KnownEndpoints.parse(JSON.parse(body.toString())).endpoint_ids);
  const details = endpointIds.flatMap((id, index) => {
    if (known.has(id)) return [];
    const message = `The account has no endpoint ${id}.`;
    return [{ field: `endpoint_ids[${index}]`, code: "invalid_value", message } as const];
  });
  if (details.length === 0) return;
  throw new AppError("validation_error", "A portal session names existing endpoints.", { details });
}
