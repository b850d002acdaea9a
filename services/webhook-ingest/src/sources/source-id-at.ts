import { type Clock, seconds } from "@signalbox/core";
import { LRUCache } from "lru-cache";
import { isSourceId } from "./source.ts";
import type { SourceStore } from "./source-store.ts";

/** Says which source an address belongs to; the address itself where it belongs to none. */
export type SourceIdAt = (address: string) => Promise<string>;

const knownMax = 10_000;
const absentMax = 10_000;
const absentMs = seconds(30);

/** Knows the addresses that sources got in place of their ids. None goes from one source to another, so nothing grows stale. */
export function createSourceIdAt({ findIdAt }: Pick<SourceStore, "findIdAt">, clock: Clock): SourceIdAt {
  const ids = new LRUCache<string, string>({ max: knownMax });
  /** Until when an address is taken to belong to no source. */
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
