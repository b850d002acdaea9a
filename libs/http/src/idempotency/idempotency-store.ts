import { createHash, randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { AppError } from "@signalbox/core";
import {
  changedRows,
  isGone,
  type RetentionRule,
  type SealedColumn,
  type Statement,
  sql,
  type Tx,
} from "@signalbox/storage";
import type { HttpResponse } from "../routes/http-response.ts";
import {
  claimMs,
  type IdempotencyClaim,
  type IdempotencyOptions,
  type KeyedRequest,
  keptMs,
} from "../routes/idempotency.ts";
import { createDeferredWrites } from "./deferred-writes.ts";
import { readAnswer, type StoredAnswer, sealedAnswers, writeAnswer } from "./stored-answer.ts";

/** The store of idempotency records. Opaque to services: pass it to `createHttpApp`. */
export interface IdempotencyStore {
  /** True when answers that show secrets can be kept. */
  readonly seals: boolean;
  /** Deletes records past their 24 hours. */
  readonly retention: RetentionRule;
  /** The answers that show secrets, for sealing them anew. */
  readonly sealedColumn: SealedColumn;
  open(request: KeyedRequest): IdempotencyClaim;
}

const retention: RetentionRule = {
  name: "idempotency retention",
  table: "signalbox.idempotency",
  column: "expires_at",
  keepMs: 0,
};

/** Creates the store of `Idempotency-Key` records, rows of the service's own database. */
export function createIdempotencyStore(options: IdempotencyOptions): IdempotencyStore {
  const writeLater = createDeferredWrites(options);
  return {
    seals: options.sealer !== undefined,
    retention,
    sealedColumn: sealedAnswers(options.service),
    open: (request) => new Claim(options, writeLater, request),
  };
}

/** Takes a key that is new, expired, or was claimed by a process that died before its effect. */
const claimKey = sql(
  "idempotency.claim",
  `insert into signalbox.idempotency as kept (account_id, key, fingerprint, owner, claimed_until, expires_at, presence)
   values ($1, $2, $3, $4, $5, $6, $8)
   on conflict (account_id, key) do update
     set fingerprint = excluded.fingerprint, owner = excluded.owner, claimed_until = excluded.claimed_until,
         expires_at = excluded.expires_at, presence = excluded.presence,
         status = null, headers = null, body = null, sealed = false
     where kept.expires_at <= $7
       or (kept.status is null and kept.owner <> excluded.owner
         and (kept.claimed_until <= $7 or ${isGone("kept.presence")}))
   returning owner`,
);

const findKept = sql(
  "idempotency.find",
  `select fingerprint, status, headers, body, sealed, expires_at as "expiresAt" from signalbox.idempotency where account_id = $1 and key = $2`,
);

/** Only the present owner completes: a request whose claim was taken over must not commit its effect a second time. */
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

/**
 * Releases a claim that may still be on its way: a connection that was held brings it after the refusal. The row that is
 * left keeps the owner from claiming, and nobody else.
 */
const releaseLateKey = sql(
  "idempotency.release-late",
  `insert into signalbox.idempotency as kept (account_id, key, owner, fingerprint, claimed_until, expires_at)
   values ($1, $2, $3, '', '-infinity', $4)
   on conflict (account_id, key) do update set claimed_until = excluded.claimed_until, presence = null
     where kept.owner = excluded.owner and kept.status is null`,
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
class Claim implements IdempotencyClaim {
  readonly #options: IdempotencyOptions;
  readonly #writeLater: ReturnType<typeof createDeferredWrites>;
  readonly #request: KeyedRequest;
  readonly #owner = randomUUID();
  #state: "unclaimed" | "claimed" | "settled" = "unclaimed";
  /** True while nobody knows whether the claim has reached the database. */
  #isLate = false;

  constructor(options: IdempotencyOptions, writeLater: ReturnType<typeof createDeferredWrites>, request: KeyedRequest) {
    this.#options = options;
    this.#writeLater = writeLater;
    this.#request = request;
  }

  get key(): string {
    return this.#request.key;
  }

  async find(content: unknown): Promise<HttpResponse | null> {
    const kept = await this.#read();
    if (!kept || kept.status === null || kept.expiresAt <= this.#options.clock.now()) return null;
    if (!this.#fingerprintOf(content).equals(kept.fingerprint)) return null;
    return readAnswer(this.#options, this.#request, kept);
  }

  async begin(content: unknown): Promise<HttpResponse | null> {
    const fingerprint = this.#fingerprintOf(content);
    // Twice: the record may be deleted between the attempt to claim it and the read.
    for (let attempt = 0; attempt < 2; attempt++) {
      if (await this.#take(fingerprint)) return null;
      const kept = await this.#read();
      if (kept) return this.#answerOf(kept, fingerprint);
    }
    throw underWay();
  }

  async complete(tx: Tx, response: HttpResponse): Promise<void> {
    if (this.#state !== "claimed") return;
    const { rowCount } = await tx.query(completeKey, this.#completion(response));
    if (rowCount === 0) throw new AppError("conflict", "The same request was completed by another attempt.");
    tx.afterCommit(() => {
      this.#state = "settled";
    });
  }

  async settle(answer: HttpResponse): Promise<void> {
    if (this.#state !== "claimed") return;
    this.#state = "settled";
    // A refusal had no effect: the client may fix the cause and send the same request again.
    if (answer.status < 300) await this.#write(completeKey, this.#completion(answer));
    else await this.#write(...this.#releasing());
  }

  async revise(answer: HttpResponse | null): Promise<void> {
    this.#state = "settled";
    if (answer) await this.#write(reviseKey, this.#completion(answer));
    else await this.#write(dropKey, this.#place());
  }

  async #write(statement: Statement, values: unknown[]): Promise<void> {
    const { pool } = this.#options;
    try {
      // Once more over another connection: the broken first one may be the reason why the request failed.
      await pool.query(statement, values).catch(() => pool.query(statement, values));
    } catch (error) {
      pool.log.warn({ error }, "an idempotency record could not be written; retrying for five minutes");
      this.#writeLater(statement, values);
    }
  }

  /** The identity of the request, with the credential's behind it where the answer is sealed or for a portal session. */
  #fingerprintOf(content: unknown): Buffer {
    const { fingerprintOf, sealed, principal } = this.#request;
    return sealed || principal.portal
      ? Buffer.concat([fingerprintOf(content), credentialDigest(principal)])
      : fingerprintOf(content);
  }

  async #read(): Promise<Kept | undefined> {
    const { principal, key } = this.#request;
    return (await this.#options.pool.query<Kept>(findKept, [principal.accountId, key])).rows[0];
  }

  async #take(fingerprint: Buffer): Promise<boolean> {
    const { pool, clock, presence } = this.#options;
    const { principal, key } = this.#request;
    const nowMs = clock.nowMs();
    const until = [new Date(nowMs + claimMs), new Date(nowMs + keptMs), new Date(nowMs)];
    const values = [principal.accountId, key, fingerprint, this.#owner, ...until, presence?.id() ?? null];
    // A claim whose answer was lost may have been committed, and only this process can release it.
    this.#state = "claimed";
    this.#isLate = true;
    const { rowCount } = await pool.query(claimKey, values);
    this.#isLate = false;
    if (rowCount !== 1) this.#state = "unclaimed";
    return rowCount === 1;
  }

  #answerOf(kept: Kept, fingerprint: Buffer): HttpResponse {
    if (!fingerprint.equals(kept.fingerprint)) {
      if (isSameRequest(fingerprint, kept.fingerprint)) throw ofAnotherCredential();
      throw new AppError("validation_error", "This Idempotency-Key was used for another request.", {
        details: [{ field: "Idempotency-Key", code: "key_reused", message: "Use a new key for a new request." }],
      });
    }
    if (kept.status === null) throw underWay();
    return readAnswer(this.#options, this.#request, kept);
  }

  #releasing(): readonly [Statement, unknown[]] {
    if (!this.#isLate) return [releaseKey, this.#place()];
    return [releaseLateKey, [...this.#place(), new Date(this.#options.clock.nowMs() + claimMs)]];
  }

  #place(): unknown[] {
    return [this.#request.principal.accountId, this.#request.key, this.#owner];
  }

  #completion(response: HttpResponse): unknown[] {
    const { status, headers, body, sealed } = writeAnswer(this.#options, this.#request, response);
    const expiresAt = new Date(this.#options.clock.nowMs() + keptMs);
    return [...this.#place(), status, headers, body, sealed, expiresAt];
  }
}

/**
 * Identifies a credential with what it may do: of two tokens of one client, the narrower one gets no answer of the wider
 * one.
 */
function credentialDigest({ credential, scopes }: KeyedRequest["principal"]): Buffer {
  const { kind, id, tokenId } = credential;
  // Clients get a new token every hour; a token of a person is the credential itself.
  const identity = [kind, id, kind === "token" ? tokenId : null, [...scopes].sort()];
  return createHash("sha256").update(JSON.stringify(identity)).digest();
}

const requestBytes = 32;
const isSameRequest = (one: Buffer, other: Buffer): boolean =>
  one.subarray(0, requestBytes).equals(other.subarray(0, requestBytes));

const ofAnotherCredential = () =>
  new AppError(
    "conflict",
    "Another credential of this account used this Idempotency-Key; only that credential can read the stored response.",
    {
      field: "Idempotency-Key",
    },
  );

const underWay = () =>
  new AppError("conflict", "The same request is still in progress.", {
    field: "Idempotency-Key",
    retryAfterSeconds: 1,
  });

/** The table of idempotency records, in the schema `signalbox`, for `migrate({ libraryMigrations })`. */
export const httpMigrations = {
  library: "http",
  directory: fileURLToPath(new URL("../../migrations", import.meta.url)),
} as const;
