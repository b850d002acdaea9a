import { type Clock, KiB, minutes, seconds } from "@signalbox/core";
import type { OutboundClient } from "@signalbox/net";
import type { Logger } from "@signalbox/runtime";
import { LRUCache } from "lru-cache";
import type { CachedSource } from "../sources/source-row.ts";

interface KeySet {
  /** Text of the last successful read; null before the first. */
  text: string | null;
  readAtMs: number;
  triedAtMs: number;
  reading: Promise<void> | null;
}

const setsMax = 1_000;
const maxAgeMs = minutes(10);
/** Made-up key ids must not cause endless requests to a partner. Without any key a pause of a second is enough. */
const pauseMs = { known: seconds(30), unknown: seconds(1) };
const limits = { deadlineMs: seconds(5), responseBytesMax: 256 * KiB, requireHttps: true };

/** The key sets (JWKS) of partners, read through the outbound guard. While an address is away the last set stays. */
export class JwksCache {
  readonly #outbound: OutboundClient;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #sets = new LRUCache<string, KeySet>({ max: setsMax });

  constructor(outbound: OutboundClient, clock: Clock, log: Logger) {
    this.#outbound = outbound;
    this.#clock = clock;
    this.#log = log;
  }

  /** Returns the source with keys in place of their URLs; an empty text for keys that cannot be read. */
  async withKeys(known: CachedSource): Promise<CachedSource> {
    const { secrets } = known;
    const keysFor = async (secret: string): Promise<string> => {
      const url = known.scheme.keysAt?.(secret) ?? null;
      return url === null ? secret : ((await this.#find(url)) ?? "");
    };
    const [current = "", ...former] = await Promise.all(textsOf(known).map(keysFor));
    const kept = secrets.former.map((one, nth) => ({ ...one, secret: former[nth] ?? "" }));
    return { ...known, secrets: { ...secrets, current, former: kept } };
  }

  /** Reads the keys of a source again. Returns false when that was done a moment ago. */
  async reread(known: CachedSource): Promise<boolean> {
    const urls = textsOf(known).flatMap((text) => known.scheme.keysAt?.(text) ?? []);
    const wereRead = await Promise.all(urls.map((url) => this.#reread(url)));
    return wereRead.includes(true);
  }

  async #find(url: string): Promise<string | null> {
    const set = this.#setAt(url);
    if (this.#clock.steadyMs() - set.readAtMs >= maxAgeMs) await this.#reread(url);
    return set.text;
  }

  async #reread(url: string): Promise<boolean> {
    const set = this.#setAt(url);
    const pause = set.text === null ? pauseMs.unknown : pauseMs.known;
    if (set.reading === null && this.#clock.steadyMs() - set.triedAtMs < pause) return false;
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
    set.triedAtMs = this.#clock.steadyMs();
    try {
      const headers = { accept: "application/json" };
      const { status, body } = await this.#outbound.request({ url, headers, ...limits });
      if (status !== 200) throw new Error(`the key set request was answered ${status}`);
      set.text = body.toString("utf8");
      set.readAtMs = this.#clock.steadyMs();
    } catch (error) {
      this.#log.warn({ error, host: new URL(url).host }, "a key set cannot be read");
    }
  }
}

const textsOf = ({ secrets: { current, former } }: CachedSource) => [current, ...former.map(({ secret }) => secret)];
