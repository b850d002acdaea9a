/**
 * Splits the id of a row of `endpoints` into that of the endpoint and the name of its consumer, which is null for the
 * endpoint itself. A consumer has rows of its own everywhere, under `endpoint:name`.
 */
export function splitId(id: string): { readonly endpointId: string; readonly consumer: string | null } {
  const [endpointId = id, consumer = null] = id.split(":");
  return { endpointId, consumer };
}
