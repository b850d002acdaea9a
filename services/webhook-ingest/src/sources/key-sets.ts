import { type Clock, KiB, minutes, seconds } from "@signalbox/core";
import type { OutboundClient } from "@signalbox/net";
import type { Logger } from "@signalbox/telemetry";
import { LRUCache } from "lru-cache";
import type { CachedSource } from "./source-cache.ts";

interface Dependencies {
  readonly outbound: Pick<OutboundClient, "request">;
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn">;
}

/** The key set at a URL. */
interface KeySet {
  /** Text of the last successful read; null before the first. */
  text: string | null;
  readAtMs: number;
  triedAtMs: number;
  reading: Promise<void> | null;
}

export type KeySets = ReturnType<typeof createKeySets>;

const setsMax = 1_000;
const maxAgeMs = minutes(10);
/** Made-up key ids must not cause endless requests to a partner. Without any key a pause of a second is enough. */
const pauseMs = { known: seconds(30), unknown: seconds(1) };
const limits = { deadlineMs: seconds(5), responseBytesMax: 256 * KiB, requireHttps: true };

/** Reads partners' key sets through the outbound guard. While an address is away the last set stays. */
class PublishedSets {
  readonly #dependencies: Dependencies;
  readonly #sets = new LRUCache<string, KeySet>({ max: setsMax });

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Returns the set at a URL; null when it was never read. */
  async find(url: string): Promise<string | null> {
    const set = this.#setAt(url);
    if (this.#nowMs() - set.readAtMs >= maxAgeMs) await this.reread(url);
    return set.text;
  }

  /** Reads a set again. Returns false when it was requested a moment ago. */
  async reread(url: string): Promise<boolean> {
    const set = this.#setAt(url);
    const pause = set.text === null ? pauseMs.unknown : pauseMs.known;
    if (set.reading === null && this.#nowMs() - set.triedAtMs < pause) return false;
    set.reading ??= this.#read(url, set).finally(() => {
      set.reading = null;
    });
    await set.reading;
    return true;
  }

  #setAt(url: string): KeySet {
    const never = Number.NEGATIVE_INFINITY;
    const set = this.#sets.get(url) ?? { text: null, readAtMs: never, triedAtMs: never, reading: null };
    this.#sets.set(url, set);
    return set;
  }

  async #read(url: string, set: KeySet): Promise<void> {
    const { outbound, log } = this.#dependencies;
    set.triedAtMs = this.#nowMs();
    try {
      const { status, body } = await outbound.request({ url, headers: { accept: "application/json" }, ...limits });
      if (status !== 200) throw new Error(`the key set request was answered ${status}`);
      set.text = body.toString("utf8");
      set.readAtMs = this.#nowMs();
    } catch (error) {
      log.warn({ error, host: new URL(url).host }, "a key set cannot be read");
    }
  }

  #nowMs = (): number => this.#dependencies.clock.steadyMs();
}

/** Creates the operations that replace the URL of a partner's key set by its keys. */
export function createKeySets(dependencies: Dependencies) {
  const sets = new PublishedSets(dependencies);

  async function keysFor({ scheme }: CachedSource, secret: string): Promise<string> {
    const url = scheme.keysAt?.(secret) ?? null;
    return url === null ? secret : ((await sets.find(url)) ?? "");
  }

  return {
    /** Returns the source with keys in place of their URLs; an empty text for keys that cannot be read. */
    async withKeys(known: CachedSource): Promise<CachedSource> {
      const { secrets } = known;
      const all = [secrets.current, ...secrets.former.map(({ secret }) => secret)];
      const [current = "", ...former] = await Promise.all(all.map((secret) => keysFor(known, secret)));
      const kept = secrets.former.map((one, nth) => ({ ...one, secret: former[nth] ?? "" }));
      return { ...known, secrets: { ...secrets, current, former: kept } };
    },
    /** Reads the keys of a source again, unless that was done a moment ago. */
    async reread({ scheme, secrets }: CachedSource): Promise<boolean> {
      const all = [secrets.current, ...secrets.former.map(({ secret }) => secret)];
      const wereRead = await Promise.all(
        all.flatMap((one) => scheme.keysAt?.(one) ?? []).map((url) => sets.reread(url)),
      );
      return wereRead.includes(true);
    },
  };
}
