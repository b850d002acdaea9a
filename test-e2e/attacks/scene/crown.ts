import { type ServedListener, serveListener } from "@signalbox/testing";

/** A server that must never be reached: it offers what an attacker wants. */
export interface Crown extends ServedListener {
  /** Requested paths. */
  readonly visits: ReadonlySet<string>;
}

export async function createCrown(): Promise<Crown> {
  const visits = new Set<string>();
  const served = await serveListener((request, response) => {
    visits.add(request.url ?? "");
    response.end("the crown jewels");
  });
  return { ...served, visits };
}
