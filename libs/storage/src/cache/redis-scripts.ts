import { createHash } from "node:crypto";

/** A script that Redis runs atomically. Every key it uses is passed to it, as a cluster requires. */
export interface RedisScript {
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
