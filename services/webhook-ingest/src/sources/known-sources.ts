import { type Clock, seconds } from "@signalbox/core";
import { type SignatureScheme, schemeOf } from "@signalbox/webhook-signatures";
import { LRUCache } from "lru-cache";
import type { Source } from "./source.ts";
import type { SourceSecrets, SourceStore } from "./source-store.ts";

/** A source with what its partner signs with, as it was read a while ago. */
export interface KnownSource {
  readonly source: Source;
  readonly secrets: SourceSecrets;
  /** How its partner signs, made once of its settings. */
  readonly scheme: SignatureScheme;
  readonly readAtMs: number;
}

/** A source that was read just now, ready to judge by. */
export function knownSource(source: Source, secrets: SourceSecrets, readAtMs: number): KnownSource {
  return { source, secrets, scheme: schemeOf(source.scheme, source.settings), readAtMs };
}

/**
 * The sources that webhooks have come for, in memory: to verify one costs no database. A copy may be stale. Who accepts by
 * it notices when the delivery is written, which names the revision; who refuses by it asks `current` first.
 */
export interface KnownSources {
  /** The source as it is known; null when there is none. */
  find(id: string): Promise<KnownSource | null>;
  /** The source as it was a moment ago at most. */
  current(id: string): Promise<KnownSource | null>;
  /** Reads the source again, because a copy proved stale. */
  reread(id: string): Promise<KnownSource | null>;
  /** Forgets a source that was changed here: the next webhook is judged by what it is now. */
  forget(id: string): void;
}

const knownMax = 10_000;
const absentMax = 10_000;
const absentMs = seconds(30);
/** Forged requests must not cost a statement each: by a copy of this age somebody is refused. */
const currentMs = 250;

export function createKnownSources(sourceStore: Pick<SourceStore, "findWithSecrets">, clock: Clock): KnownSources {
  const known = new LRUCache<string, KnownSource>({ max: knownMax });
  /** Until when an id is taken to belong to no source. */
  const absent = new LRUCache<string, number>({ max: absentMax });
  const reading = new Map<string, Promise<KnownSource | null>>();

  async function read(id: string): Promise<KnownSource | null> {
    const readAtMs = clock.nowMs();
    const found = await sourceStore.findWithSecrets(id);
    if (found === null) {
      known.delete(id);
      absent.set(id, readAtMs + absentMs);
      return null;
    }
    absent.delete(id);
    const copy = knownSource(found.source, found.secrets, readAtMs);
    known.set(id, copy);
    return copy;
  }

  /** Who asks while a read is under way waits for the next one: this one may have begun before a change. */
  async function reread(id: string): Promise<KnownSource | null> {
    await reading.get(id)?.catch(() => null);
    const under = reading.get(id);
    if (under) return under;
    const next = read(id).finally(() => reading.delete(id));
    reading.set(id, next);
    return next;
  }

  const isAbsent = (id: string): boolean => (absent.get(id) ?? 0) > clock.nowMs();

  return {
    find: async (id) => known.get(id) ?? (isAbsent(id) ? null : (reading.get(id) ?? reread(id))),
    async current(id) {
      const copy = known.get(id);
      if (copy && clock.nowMs() - copy.readAtMs <= currentMs) return copy;
      return isAbsent(id) ? null : reread(id);
    },
    reread,
    forget(id) {
      known.delete(id);
      absent.delete(id);
      // A read that is under way may have begun before the change.
      void reading
        .get(id)
        ?.finally(() => known.delete(id))
        .catch(() => {});
    },
  };
}
