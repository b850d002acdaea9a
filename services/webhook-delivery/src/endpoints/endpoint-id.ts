import { seesEndpoint, type Viewer } from "@signalbox/auth";

/** Splits the id of a row: a consumer has rows of its own, under `endpoint:name`; an endpoint has no name. */
export function splitId(id: string): { readonly endpointId: string; readonly consumer: string | null } {
  const [endpointId = id, consumer = null] = id.split(":");
  return { endpointId, consumer };
}

interface EndpointRow {
  readonly id: string;
  /** Absent on an endpoint itself; null for all endpoints. */
  readonly endpointId?: string | null;
}

/** Returns the row when its endpoint is one that the viewer sees: a portal session may be bound to some. */
export const seen = <Row extends EndpointRow>(viewer: Viewer, row: Row | null): Row | null =>
  row !== null && seesEndpoint(viewer, splitId(row.endpointId ?? row.id).endpointId) ? row : null;

/** Returns the endpoints whose rows a list has, narrowed to one where a filter names it; null for all of the account. */
export function endpointsSeen(viewer: Viewer, wanted?: string): readonly string[] | null {
  const sees = viewer.portal?.endpointIds ?? null;
  if (wanted === undefined) return sees;
  return seesEndpoint(viewer, wanted) ? [wanted] : [];
}
