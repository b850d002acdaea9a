import type { Logger } from "@signalbox/telemetry";
import { Redis } from "ioredis";
import type { RedisScript } from "./redis-scripts.ts";

export interface RedisConnection {
  readonly state: "up" | "away";
  /** Runs a call; null at once while Redis is away, and when the call fails. Never throws. */
  attempt<T>(call: (redis: Redis) => Promise<T>): Promise<{ value: T } | null>;
  /** Like `attempt`, for a script. */
  run(script: RedisScript, keys: string[], values: (string | number)[]): Promise<{ value: unknown } | null>;
  close(): void;
}

export interface RedisConnectionOptions {
  readonly url: string;
  readonly log: Logger;
  readonly commandTimeoutMs: number;
  readonly onState: (state: "up" | "away") => void;
}

const probePauseMs = 250;
const reconnectPauseMaxMs = 1_000;

/**
 * Redis as something that may be missing. A lost connection or a call without an answer makes it `away`: from then on
 * calls fail at once instead of each waiting for its own timeout, while a probe asks in the background until Redis
 * answers again. Nothing is queued and nothing is sent twice: a counter that arrives late would count wrong.
 */
export async function connectRedis(options: RedisConnectionOptions): Promise<RedisConnection> {
  const { log, commandTimeoutMs } = options;
  const redis = new Redis(options.url, {
    lazyConnect: true,
    connectTimeout: 2_000,
    commandTimeout: commandTimeoutMs,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 5), reconnectPauseMaxMs),
  });
  let state: "up" | "away" | "unknown" = "unknown";
  let closed = false;
  let probing: NodeJS.Timeout | undefined;

  const become = (next: "up" | "away", reason: string) => {
    if (closed || state === next) return;
    if (next === "away") log.warn({ reason }, "Redis is away: going on without the cache");
    else if (state === "away") log.info("Redis is back");
    state = next;
    options.onState(next);
    if (next === "away") probing = setTimeout(probe, probePauseMs);
  };
  const probe = async () => {
    const answered = await redis.ping().then(
      () => true,
      () => false,
    );
    if (closed) return;
    if (answered) return become("up", "");
    // A connection that is open and silent keeps every unanswered command: give it up for a new one.
    if (redis.status === "ready") redis.disconnect(true);
    probing = setTimeout(probe, probePauseMs);
  };
  const attempt: RedisConnection["attempt"] = async (call) => {
    if (state !== "up") return null;
    try {
      return { value: await call(redis) };
    } catch (error) {
      const { name, message } = error as Error;
      if (name === "ReplyError") log.warn({ reason: message }, "Redis refuses a command");
      else become("away", message);
      return null;
    }
  };

  redis.on("error", (error) => become("away", error.message)); // without a listener it would be printed
  redis.on("close", () => become("away", "the connection was closed"));
  await redis.connect().catch(() => {}); // the reason arrives as an error event; connecting goes on by itself
  become((await redis.ping().catch(() => null)) ? "up" : "away", "it did not answer at the start");

  return {
    get state() {
      return state === "up" ? "up" : "away";
    },
    attempt,
    run: (script, keys, values) =>
      attempt(async (client) => {
        try {
          return await client.evalsha(script.sha1, keys.length, ...keys, ...values);
        } catch (error) {
          if (!(error as Error).message.startsWith("NOSCRIPT")) throw error;
          return await client.eval(script.text, keys.length, ...keys, ...values);
        }
      }),
    close() {
      closed = true;
      clearTimeout(probing);
      redis.disconnect();
    },
  };
}
