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
}

/** A source that was read, ready to judge by. */
export function knownSource(source: Source, secrets: SourceSecrets): KnownSource {
  return { source, secrets, scheme: schemeOf(source.scheme, source.settings) };
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

/** A source as it was read, or that there was none. */
interface Copy {
  readonly known: KnownSource | null;
  readonly readAtMs: number;
}

const knownMax = 10_000;
const absentMax = 10_000;
const absentMs = seconds(30);
/**
 * Forged requests must not cost a statement each: by a copy of this age somebody is refused. The same holds where there is no
 * source, so that how long a refusal takes does not tell an id.
 */
const currentMs = 250;

export function createKnownSources(sourceStore: Pick<SourceStore, "findWithSecrets">, clock: Clock): KnownSources {
  const copies = new LRUCache<string, Copy>({ max: knownMax });
  /** Apart, so that made-up ids put no source out of memory. */
  const absences = new LRUCache<string, Copy>({ max: absentMax });
  const reading = new Map<string, Promise<KnownSource | null>>();

  const copyOf = (id: string): Copy | undefined => copies.get(id) ?? absences.get(id);
  const ageMs = ({ readAtMs }: Copy): number => clock.nowMs() - readAtMs;
  const drop = (id: string): void => {
    copies.delete(id);
    absences.delete(id);
  };

  async function read(id: string): Promise<KnownSource | null> {
    const readAtMs = clock.nowMs();
    const found = await sourceStore.findWithSecrets(id);
    const before = copies.get(id)?.known;
    drop(id);
    if (found === null) {
      absences.set(id, { known: null, readAtMs });
      return null;
    }
    // The same object as long as nothing changed: what was judged by it need not be judged again.
    const isSame = before?.source.revision === found.source.revision;
    const known = before && isSame ? before : knownSource(found.source, found.secrets);
    copies.set(id, { known, readAtMs });
    return known;
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

  return {
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
      // A read that is under way may have begun before the change.
      void reading
        .get(id)
        ?.finally(() => drop(id))
        .catch(() => {});
    },
  };
}
