import { type Clock, seconds } from "@signalbox/core";
import { LRUCache } from "lru-cache";
import { isSourceId } from "./source.ts";
import type { SourceStore } from "./source-store.ts";

/** Returns the id of the source that an address belongs to, or the address itself when it belongs to none. */
export type SourceIdAt = (address: string) => Promise<string>;

const knownMax = 10_000;
const absentMax = 10_000;
const absentMs = seconds(30);

/**
 * Creates the look-up of addresses that replace the ids of sources. An address never moves to another source, so that a
 * copy cannot become stale.
 */
export function createSourceIdAt({ findIdAt }: Pick<SourceStore, "findIdAt">, clock: Clock): SourceIdAt {
  const ids = new LRUCache<string, string>({ max: knownMax });
  /** Time until which an address counts as unknown. */
  const absent = new LRUCache<string, number>({ max: absentMax });

  return async function sourceIdAt(address) {
    if (isSourceId(address)) return address;
    const known = ids.get(address);
    const nowMs = clock.nowMs();
    if (known !== undefined || (absent.get(address) ?? 0) > nowMs) return known ?? address;
    const id = await findIdAt(address);
    if (id === null) absent.set(address, nowMs + absentMs);
    else ids.set(address, id);
    return id ?? address;
  };
}
