import { createHash } from "node:crypto";
import type { Logger } from "@signalbox/runtime";
import { Redis } from "ioredis";

export interface RedisConnection {
  readonly state: "up" | "away";
  /** Runs a call; null immediately during an outage of Redis, and when the call fails. Never throws. */
  attempt<T>(call: (redis: Redis) => Promise<T>): Promise<{ value: T } | null>;
  /** Like `attempt`, for a script. */
  run(script: RedisScript, keys: string[], values: (string | number)[]): Promise<{ value: unknown } | null>;
  close(): void;
}

interface RedisConnectionOptions {
  readonly url: string;
  readonly log: Logger;
  /** The certificate authority of the server, in PEM. Default: the authorities built into Node. */
  readonly ca?: string | undefined;
  readonly commandTimeoutMs: number;
  /** Keys that are written and read to learn that Redis does what the cache asks of it: one of each prefix. */
  readonly probeKeys: readonly string[];
  readonly onState: (state: "up" | "away") => void;
}

const probePauseMs = 250;
/**
 * The refusals of a server that takes no writes, a copy after a failover, a full disk or memory, one that still loads, and
 * of one that is not for us: no rights, another node's keys, a cluster without all of its nodes. Its values may be
 * outdated, since deletions are refused as well.
 */
const refusesAll =
  /(^|-)(READONLY|MISCONF|OOM|NOREPLICAS|LOADING|MASTERDOWN|NOPERM|NOAUTH|WRONGPASS|MOVED|ASK|CROSSSLOT|CLUSTERDOWN|TRYAGAIN)\b/;
const reconnectPauseMaxMs = 1_000;

/** Connects, or detects an outage of Redis: the start succeeds either way. */
export async function connectRedis(options: RedisConnectionOptions): Promise<RedisConnection> {
  const redis = new Redis(options.url, {
    lazyConnect: true,
    ...(options.ca !== undefined && { tls: { ca: options.ca } }),
    connectTimeout: 2_000,
    commandTimeout: options.commandTimeoutMs,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 5), reconnectPauseMaxMs),
  });
  const connection = new ProbedConnection(redis, options);
  await connection.open();
  return connection;
}

/**
 * Redis as an optional dependency. A lost connection, a call without an answer or a refusal of all writes makes it `away`:
 * from then on calls fail immediately instead of each waiting for its own timeout, while a probe polls in the background
 * until Redis takes a write again. Nothing is queued and nothing is sent twice: a late increment would count wrong.
 */
class ProbedConnection implements RedisConnection {
  readonly #redis: Redis;
  readonly #log: Logger;
  readonly #probeKeys: readonly string[];
  readonly #onState: (state: "up" | "away") => void;
  #state: "up" | "away" | "unknown" = "unknown";
  #closed = false;
  #probing: NodeJS.Timeout | undefined;

  constructor(redis: Redis, { log, onState, probeKeys }: RedisConnectionOptions) {
    this.#redis = redis;
    this.#probeKeys = probeKeys;
    this.#log = log;
    this.#onState = onState;
    redis.on("error", (error) => this.#become("away", error.message)); // without a listener it would be printed
    redis.on("close", () => this.#become("away", "the connection was closed"));
  }

  async open(): Promise<void> {
    await this.#redis.connect().catch(() => {}); // the reason arrives as an error event; reconnecting is automatic
    this.#become((await this.#answers()) ? "up" : "away", "no answer at the start");
  }

  get state(): "up" | "away" {
    return this.#state === "up" ? "up" : "away";
  }

  async attempt<T>(call: (redis: Redis) => Promise<T>): Promise<{ value: T } | null> {
    if (this.#state !== "up") return null;
    try {
      return { value: await call(this.#redis) };
    } catch (error) {
      const { name, message } = error as Error;
      if (name === "ReplyError" && !refusesAll.test(message))
        this.#log.warn({ reason: message }, "Redis refused a command");
      else this.#become("away", message);
      return null;
    }
  }

  run(script: RedisScript, keys: string[], values: (string | number)[]): Promise<{ value: unknown } | null> {
    return this.attempt(async (redis) => {
      try {
        return await redis.evalsha(script.sha1, keys.length, ...keys, ...values);
      } catch (error) {
        if (!(error as Error).message.startsWith("NOSCRIPT")) throw error;
        return await redis.eval(script.text, keys.length, ...keys, ...values);
      }
    });
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#probing);
    this.#redis.disconnect();
  }

  #become(next: "up" | "away", reason: string): void {
    if (this.#closed || this.#state === next) return;
    if (next === "away") this.#log.warn({ reason }, "Redis is unavailable: continuing without the cache");
    else if (this.#state === "away") this.#log.info("Redis is available again");
    this.#state = next;
    this.#onState(next);
    if (next === "away") this.#probeLater();
  }

  #probeLater(): void {
    this.#probing = setTimeout(() => void this.#probe(), probePauseMs);
  }

  async #probe(): Promise<void> {
    const answered = await this.#answers();
    if (this.#closed) return;
    if (answered) {
      this.#become("up", "");
      return;
    }
    // An open and silent connection keeps every unanswered command, and one to a former primary leads to a copy: replace
    // it with a new one.
    if (this.#redis.status === "ready") this.#redis.disconnect(true);
    this.#probeLater();
  }

  /** Tries each command of the cache: a user may have the rights for some of them only. */
  #answers(): Promise<boolean> {
    const tries = this.#probeKeys.map(async (key) => {
      await this.#redis.set(key, "0", "PX", probePauseMs);
      await this.#redis.get(key);
      await this.#redis.eval(probeScript, 1, key, probePauseMs);
      await this.#redis.unlink(key);
    });
    return Promise.all(tries).then(
      () => true,
      () => false,
    );
  }
}

/** Uses the commands of the scripts below. KEYS probe · ARGV milliseconds */
const probeScript = `
redis.call('INCRBY', KEYS[1], redis.call('EXISTS', KEYS[1]))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return { redis.call('PTTL', KEYS[1]), redis.call('TIME')[1] }`;

/** A script that Redis runs atomically. Every key it uses is passed to it, as a cluster requires. */
interface RedisScript {
  readonly text: string;
  readonly sha1: string;
}

const script = (text: string): RedisScript => ({ text, sha1: createHash("sha1").update(text).digest("hex") });

/** KEYS counter · ARGV by, milliseconds → the sum. */
export const incrementScript = script(`
local sum = redis.call('INCRBY', KEYS[1], ARGV[1])
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return sum`);

/**
 * KEYS lease, last token · ARGV milliseconds → the token, or 0. Tokens are microseconds of the server's clock, so they
 * keep growing after a restart with data loss; the last one is kept for a day in case the clock is set back.
 */
export const leaseScript = script(`
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local time = redis.call('TIME')
local token = math.max(time[1] * 1000000 + time[2], (tonumber(redis.call('GET', KEYS[2])) or 0) + 1)
local text = string.format('%.0f', token)
redis.call('SET', KEYS[1], text, 'PX', ARGV[1])
redis.call('SET', KEYS[2], text, 'PX', math.max(86400000, ARGV[1]))
return token`);

/** KEYS lease · ARGV token → 1 when the token held the lease. */
export const releaseScript = script(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`);

/** KEYS taken · ARGV wanted, limit, milliseconds of the window → granted, remaining, milliseconds to the end. */
export const takeSharesScript = script(`
local limit = tonumber(ARGV[2])
local taken = tonumber(redis.call('GET', KEYS[1])) or 0
local granted = math.max(0, math.min(tonumber(ARGV[1]), limit - taken))
taken = redis.call('INCRBY', KEYS[1], granted)
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return { granted, math.max(0, limit - taken), redis.call('PTTL', KEYS[1]) }`);
