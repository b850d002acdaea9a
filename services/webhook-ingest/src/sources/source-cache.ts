import { type Clock, entryLimit, seconds } from "@signalbox/core";
import { type SignatureScheme, schemeOf } from "@signalbox/webhook-signatures";
import { LRUCache } from "lru-cache";
import { isSourceId, type Source } from "./source.ts";
import type { SourceSecrets, SourceStore } from "./source-store.ts";

/** A source with its partner's secrets, as read a while ago. */
export interface CachedSource {
  readonly source: Source;
  readonly secrets: SourceSecrets;
  /** Signature scheme of the partner, built once from the settings. */
  readonly scheme: SignatureScheme;
}

/** Builds a known source from a row. */
export function cachedSource(source: Source, secrets: SourceSecrets): CachedSource {
  return { source, secrets, scheme: schemeOf(source.scheme, source.settings) };
}

/**
 * The sources in use, in memory, so that a verification costs no query. A copy may be stale. An acceptance notices that
 * when the delivery is written with the source's revision; a refusal asks `current` first.
 */
export interface SourceCache {
  /** Returns the id of the source that an address belongs to, or the address itself when it belongs to none. */
  idAt(address: string): Promise<string>;
  /** Returns the source from memory; null for an unknown one. */
  find(id: string): Promise<CachedSource | null>;
  /** Returns the source at most a moment old. */
  current(id: string): Promise<CachedSource | null>;
  /** Reads the source again, because a copy proved stale. */
  reread(id: string): Promise<CachedSource | null>;
  /** Removes a changed source from memory, so that the next webhook is judged by its new state. */
  forget(id: string): void;
}

/** A source as read, or its absence. */
interface Copy {
  readonly known: CachedSource | null;
  readonly readAtMs: number;
}

const knownMax = 10_000;
const absentMax = 10_000;
const absentMs = seconds(30);
/**
 * Largest age of a copy that may refuse a webhook: forged requests must not cost a query each. It applies to unknown
 * sources too, so that the time of a refusal does not reveal an id.
 */
const currentMs = 250;

type Store = Pick<SourceStore, "findWithSecrets" | "findIdAt">;

export function createSourceCache(sourceStore: Store, clock: Clock): SourceCache {
  const copies = new LRUCache<string, Copy>(entryLimit(knownMax));
  /** Separate, so that made-up ids evict no source. */
  const absences = new LRUCache<string, Copy>(entryLimit(absentMax));
  const reading = new Map<string, Promise<CachedSource | null>>();

  const copyOf = (id: string): Copy | undefined => copies.get(id) ?? absences.get(id);
  const ageMs = ({ readAtMs }: Copy): number => clock.nowMs() - readAtMs;
  const drop = (id: string): void => {
    copies.delete(id);
    absences.delete(id);
  };

  async function read(id: string): Promise<CachedSource | null> {
    const readAtMs = clock.nowMs();
    const found = await sourceStore.findWithSecrets(id);
    const before = copies.get(id)?.known;
    drop(id);
    if (found === null) {
      absences.set(id, { known: null, readAtMs });
      return null;
    }
    // The same object while nothing has changed, so that a judgement by it need not be repeated.
    const isSame = before?.source.revision === found.source.revision;
    const known = before && isSame ? before : cachedSource(found.source, found.secrets);
    copies.set(id, { known, readAtMs });
    return known;
  }

  /**
   * Reads the source again. A read that is already running may have started before a change, so the caller waits for
   * the next one.
   */
  async function reread(id: string): Promise<CachedSource | null> {
    await reading.get(id)?.catch(() => null);
    const under = reading.get(id);
    if (under) return under;
    const next = read(id).finally(() => reading.delete(id));
    reading.set(id, next);
    return next;
  }

  return {
    idAt: createIdAt(sourceStore, clock),
    async find(id) {
      const copy = copyOf(id);
      if (copy && (copy.known !== null || ageMs(copy) <= absentMs)) return copy.known;
      return reading.get(id) ?? reread(id);
    },
    async current(id) {
      const copy = copyOf(id);
      return copy && ageMs(copy) <= currentMs ? copy.known : reread(id);
    },
    reread,
    forget(id) {
      drop(id);
      // A running read may have started before the change.
      void reading
        .get(id)
        ?.finally(() => drop(id))
        .catch(() => {});
    },
  };
}

/**
 * Creates the look-up of addresses that replace the ids of sources. An address never moves to another source, so that a
 * copy cannot become stale.
 */
function createIdAt({ findIdAt }: Pick<Store, "findIdAt">, clock: Clock): SourceCache["idAt"] {
  const ids = new LRUCache<string, string>(entryLimit(knownMax));
  /** Time until which an address counts as unknown. */
  const absent = new LRUCache<string, number>(entryLimit(absentMax));

  return async function idAt(address) {
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
