import { type ServedListener, serveListener } from "@signalbox/testing";

/** A server that must never be reached: it gives whoever asks what an attacker would like to have. */
export interface Crown extends ServedListener {
  /** The paths that were asked for. */
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
