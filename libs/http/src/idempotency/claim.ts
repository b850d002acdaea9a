import { randomUUID } from "node:crypto";
import { AppError } from "@signalbox/core";
import { changedRows, isGone, sql, type Tx } from "@signalbox/storage";
import type { HttpResponse } from "../responses/http-response.ts";
import type { IdempotencyClaim } from "./idempotency.ts";
import { claimMs, type IdempotencyOptions, type KeyedRequest, keptMs } from "./keyed-request.ts";
import { readAnswer, type StoredAnswer, writeAnswer } from "./stored-answer.ts";

/** Takes the key when it is new, past its time, or left behind by a process that died before its effect. */
const claimKey = sql(
  "idempotency.claim",
  `insert into signalbox.idempotency as kept (account_id, key, fingerprint, owner, claimed_until, expires_at, presence)
   values ($1, $2, $3, $4, $5, $6, $8)
   on conflict (account_id, key) do update
     set fingerprint = excluded.fingerprint, owner = excluded.owner, claimed_until = excluded.claimed_until,
         expires_at = excluded.expires_at, presence = excluded.presence,
         status = null, headers = null, body = null, sealed = false
     where kept.expires_at <= $7
       or (kept.status is null and (kept.claimed_until <= $7 or ${isGone("kept.presence")}))
   returning owner`,
);

const findKept = sql(
  "idempotency.find",
  `select fingerprint, status, headers, body, sealed, expires_at as "expiresAt" from signalbox.idempotency where account_id = $1 and key = $2`,
);

/** Only the present owner completes: one whose claim was taken over must not commit its effect a second time. */
const completeKey = changedRows(
  "idempotency.complete",
  "($1::text, $2::text, $3::uuid, $4::int, $5::jsonb, $6::text, $7::boolean, $8::timestamptz)",
  {
    table: "signalbox.idempotency",
    names: ["account_id", "key", "owner", "status", "headers", "body", "sealed", "expires_at"],
    keyWidth: 2,
    condition: "idempotency.owner = given.owner and idempotency.status is null",
  },
  "status = given.status, headers = given.headers, body = given.body, sealed = given.sealed, expires_at = given.expires_at",
);

const releaseKey = sql(
  "idempotency.release",
  `delete from signalbox.idempotency where account_id = $1 and key = $2 and owner = $3 and status is null`,
);

const reviseKey = sql(
  "idempotency.revise",
  `update signalbox.idempotency set status = $4, headers = $5, body = $6, sealed = $7, expires_at = $8
   where account_id = $1 and key = $2 and owner = $3`,
);

const dropKey = sql(
  "idempotency.drop",
  `delete from signalbox.idempotency where account_id = $1 and key = $2 and owner = $3`,
);

interface Kept extends StoredAnswer {
  readonly fingerprint: Buffer;
  readonly expiresAt: Date;
}

/** The claim of one request on its key. */
export function createClaim(options: IdempotencyOptions, request: KeyedRequest): IdempotencyClaim {
  const { pool, clock, presence } = options;
  const owner = randomUUID();
  let state: "unclaimed" | "claimed" | "settled" = "unclaimed";

  const claim: IdempotencyClaim = { key: request.key, find, begin, complete, settle, revise };
  return claim;

  async function find(content: unknown): Promise<HttpResponse | null> {
    const kept = await read();
    if (!kept || kept.status === null || kept.expiresAt <= clock.now()) return null;
    return request.fingerprintOf(content).equals(kept.fingerprint) ? readAnswer(options, request, kept) : null;
  }

  async function begin(content: unknown): Promise<HttpResponse | null> {
    const fingerprint = request.fingerprintOf(content);
    // Twice: the record may be cleaned away between the attempt to claim it and the look at it.
    for (let attempt = 0; attempt < 2; attempt++) {
      if (await take(fingerprint)) return null;
      const kept = await read();
      if (kept) return answerOf(kept, fingerprint);
    }
    throw underWay();
  }

  async function read(): Promise<Kept | undefined> {
    return (await pool.query<Kept>(findKept, [request.accountId, request.key])).rows[0];
  }

  async function take(fingerprint: Buffer): Promise<boolean> {
    const nowMs = clock.nowMs();
    const until = [new Date(nowMs + claimMs), new Date(nowMs + keptMs), new Date(nowMs)];
    const values = [request.accountId, request.key, fingerprint, owner, ...until, presence?.id() ?? null];
    // A claim whose answer is lost may have been made, and nobody else gives it back while this process lives.
    state = "claimed";
    const { rowCount } = await pool.query(claimKey, values);
    if (rowCount !== 1) state = "unclaimed";
    return rowCount === 1;
  }

  function answerOf(kept: Kept, fingerprint: Buffer): HttpResponse {
    if (!fingerprint.equals(kept.fingerprint)) {
      throw new AppError("validation_error", "This Idempotency-Key was used for another request.", {
        details: [{ field: "Idempotency-Key", code: "key_reused", message: "Use a new key for a new request." }],
      });
    }
    if (kept.status === null) throw underWay();
    return readAnswer(options, request, kept);
  }

  async function complete(tx: Tx, response: HttpResponse): Promise<void> {
    if (state !== "claimed") return;
    const { rowCount } = await tx.query(completeKey, completion(response));
    if (rowCount === 0) throw new AppError("conflict", "The same request was completed by another attempt.");
    tx.afterCommit(() => {
      state = "settled";
    });
  }

  async function settle(answer: HttpResponse): Promise<void> {
    if (state !== "claimed") return;
    state = "settled";
    // A refusal had no effect: the client may mend the cause and send the same request again.
    const statement = answer.status < 300 ? completeKey : releaseKey;
    const values = answer.status < 300 ? completion(answer) : [request.accountId, request.key, owner];
    try {
      // Once more over another connection: what broke the first one may be what made the request fail.
      await pool.query(statement, values).catch(() => pool.query(statement, values));
    } catch (error) {
      pool.log.warn({ error }, "an idempotency record was not settled; its claim ends by itself");
    }
  }

  async function revise(answer: HttpResponse | null): Promise<void> {
    state = "settled";
    try {
      if (answer) await pool.query(reviseKey, completion(answer));
      else await pool.query(dropKey, [request.accountId, request.key, owner]);
    } catch (error) {
      pool.log.warn({ error }, "an idempotency record was not revised; it says that the request was done");
    }
  }

  function completion(response: HttpResponse): unknown[] {
    const { status, headers, body, sealed } = writeAnswer(options, request, response);
    const expiresAt = new Date(clock.nowMs() + keptMs);
    return [request.accountId, request.key, owner, status, headers, body, sealed, expiresAt];
  }
}

const underWay = () =>
  new AppError("conflict", "The same request is still under way.", { field: "Idempotency-Key", retryAfterSeconds: 1 });
