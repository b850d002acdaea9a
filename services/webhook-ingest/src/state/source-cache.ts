import { type Clock, entryLimit, seconds } from "@signalbox/core";
import { LRUCache } from "lru-cache";
import { isSourceId } from "../sources/source.ts";
import { type CachedSource, cachedSource, type SourceWithSecrets } from "../sources/source-row.ts";

export interface SourceReads {
  readonly findWithSecrets: (id: string) => Promise<SourceWithSecrets | null>;
  readonly findIdAt: (address: string) => Promise<string | null>;
}

interface Copy {
  readonly known: CachedSource | null;
  readonly readAtMs: number;
}

const knownMax = 10_000;
const absentMax = 10_000;
const absentMs = seconds(30);
/** Largest age of a copy, or an absence, that may refuse a webhook: forged requests must not cost a query each. */
const currentMs = 250;

/** The sources in use. A stale copy shows when a webhook is written with its revision; a refusal asks `current`. */
export class SourceCache {
  readonly #reads: SourceReads;
  readonly #clock: Clock;
  readonly #copies = new LRUCache<string, Copy>(entryLimit(knownMax));
  /** Separate, so that made-up ids evict no source. */
  readonly #absences = new LRUCache<string, Copy>(entryLimit(absentMax));
  readonly #reading = new Map<string, Promise<CachedSource | null>>();
  readonly #idsByAddress = new LRUCache<string, string>(entryLimit(knownMax));
  readonly #absentAddresses = new LRUCache<string, number>(entryLimit(absentMax));

  constructor(reads: SourceReads, clock: Clock) {
    this.#reads = reads;
    this.#clock = clock;
  }

  /** Returns the id of the source at an address, or the address itself. An address never moves to another source. */
  async idAt(address: string): Promise<string> {
    if (isSourceId(address)) return address;
    const known = this.#idsByAddress.get(address);
    const nowMs = this.#clock.nowMs();
    if (known !== undefined || (this.#absentAddresses.get(address) ?? 0) > nowMs) return known ?? address;
    const id = await this.#reads.findIdAt(address);
    if (id === null) this.#absentAddresses.set(address, nowMs + absentMs);
    else this.#idsByAddress.set(address, id);
    return id ?? address;
  }

  async find(id: string): Promise<CachedSource | null> {
    const copy = this.#copyOf(id);
    if (copy && (copy.known !== null || this.#ageMs(copy) <= absentMs)) return copy.known;
    return this.#reading.get(id) ?? this.reread(id);
  }

  /** Judges the source at an address by its copy and, unless that verdict is final, by its present state. */
  async judge<Verdict>(
    address: string,
    judge: (known: CachedSource | null) => Verdict,
    isFinal: (verdict: Verdict) => boolean,
  ): Promise<Verdict> {
    const id = await this.idAt(address);
    const verdict = judge(await this.find(id));
    return isFinal(verdict) ? verdict : judge(await this.current(id));
  }

  /** Returns the source at most a moment old. */
  async current(id: string): Promise<CachedSource | null> {
    const copy = this.#copyOf(id);
    return copy && this.#ageMs(copy) <= currentMs ? copy.known : this.reread(id);
  }

  /** Reads a stale source again. A read under way may be older than the change, so the caller waits for the next. */
  async reread(id: string): Promise<CachedSource | null> {
    await this.#reading.get(id)?.catch(() => null);
    const under = this.#reading.get(id);
    if (under) return under;
    const next = this.#read(id).finally(() => this.#reading.delete(id));
    this.#reading.set(id, next);
    return next;
  }

  /** Removes a changed source from memory, so that the next webhook is judged by its new state. */
  forget(id: string): void {
    this.#drop(id);
    // A running read may have started before the change.
    void this.#reading
      .get(id)
      ?.finally(() => this.#drop(id))
      .catch(() => {});
  }

  async #read(id: string): Promise<CachedSource | null> {
    const readAtMs = this.#clock.nowMs();
    const found = await this.#reads.findWithSecrets(id);
    const before = this.#copies.get(id)?.known;
    this.#drop(id);
    if (found === null) {
      this.#absences.set(id, { known: null, readAtMs });
      return null;
    }
    // The same object while nothing has changed, so that a judgement by it need not be repeated.
    const isSame = before?.source.revision === found.source.revision;
    const known = before && isSame ? before : cachedSource(found.source, found.secrets);
    this.#copies.set(id, { known, readAtMs });
    return known;
  }

  #copyOf(id: string): Copy | undefined {
    return this.#copies.get(id) ?? this.#absences.get(id);
  }

  #ageMs({ readAtMs }: Copy): number {
    return this.#clock.nowMs() - readAtMs;
  }

  #drop(id: string): void {
    this.#copies.delete(id);
    this.#absences.delete(id);
  }
}
