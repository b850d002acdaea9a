import type { IncomingMessage, ServerResponse } from "node:http";
import { setImmediate as othersTurn } from "node:timers/promises";
import type { Principal } from "@signalbox/auth";
import { type Audience, audienceOf } from "@signalbox/contracts";
import { seconds } from "@signalbox/core";
import type { Logger } from "@signalbox/runtime";
import { type Flags, flagContextOf } from "@signalbox/service";
import type { Pool } from "@signalbox/storage";
import { type FollowerAccess, isOutdated, judgeFollowers } from "./judge-followers.ts";
import { type FoundRevision, revisionsSince, SentRevisions } from "./sent-revisions.ts";
import { type Follower, StreamClient, type StreamEnd } from "./stream-client.ts";
import { flagFrames, framesOf, type Revised, type StreamValues } from "./stream-events.ts";

interface ConfigStreamOptions extends FollowerAccess {
  readonly log: Logger;
  /** Holds the history, for clients that missed revisions. */
  readonly pool: Pool;
  readonly flags: Flags;
  readonly values: StreamValues;
  readonly limits: { readonly perCredential: number; readonly all: number };
}

/** Time in which instances should apply a revision before clients are notified of the result. */
const settleMs = seconds(2);

/** Frames written before other work gets its turn. Each takes about 25 µs, and a request that waits for all of them feels it. */
const writtenPerTurn = 20;
const tickMs = seconds(1);
/** Number of turns, a second each, over which all clients are greeted. */
const turns = 15;
const heartbeat = Buffer.from(":\n\n");

type StreamRefusal = "too-many-of-credential" | "too-many";

/** Notifies clients of changed configuration, settings and flags. */
export class ConfigStream {
  readonly #options: ConfigStreamOptions;
  readonly #clients = new Set<StreamClient>();
  readonly #ofCredential = new Map<string, Set<StreamClient>>();
  #sent: SentRevisions | null = null;
  #sending = Promise.resolve();
  #turn = 0;

  constructor(options: ConfigStreamOptions) {
    const { runner, flags } = options;
    this.#options = options;
    runner.every("configuration stream", tickMs, () => this.#tick());
    runner.onDrain("configuration stream", () => this.end("draining"));
    judgeFollowers(this.#clients, options);
    flags.onChange(() => this.#changed());
  }

  /** Returns why no stream can be opened for the principal; null when one can. */
  refusal({ credential }: Principal): StreamRefusal | null {
    const { limits } = this.#options;
    if (this.#countOf(credential.id) >= limits.perCredential) return "too-many-of-credential";
    return this.#clients.size >= limits.all ? "too-many" : null;
  }

  /** Opens a stream for a request with a written head. `last` is the last revision that the client has seen. */
  async open(
    follower: Follower,
    last: number | null,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    if (request.method === "HEAD") {
      response.end();
      return;
    }
    const { principal } = follower;
    const { complete } = this.#revisions();
    const client = new StreamClient(follower, response, Math.max(last ?? 0, complete));
    const ofCredential = this.#ofCredential.get(principal.credential.id) ?? new Set();
    this.#ofCredential.set(principal.credential.id, ofCredential.add(client));
    this.#clients.add(client);
    response.once("close", () => this.#forget(client));
    // The access may have changed while the request was on its way.
    if (isOutdated(principal, this.#options.accessStates)) client.end("access_changed");
    client.write(Buffer.from(`: connected\nid: ${last ?? complete}\n\n`));
    if (last !== null) await this.#bringUpToDate(client, last, complete);
    client.goLive();
  }

  end(reason: StreamEnd): void {
    for (const client of this.#clients) client.end(reason);
  }

  /** Greets a part of the clients, and ends expired streams. */
  async #tick(): Promise<void> {
    const nowMs = this.#options.clock.nowMs();
    this.#turn = (this.#turn + 1) % turns;
    let place = 0;
    for (const client of this.#clients) {
      const { expiresAt } = client.principal;
      if (expiresAt !== null && expiresAt.getTime() <= nowMs) client.end("expired");
      else if (place++ % turns === this.#turn) client.write(heartbeat);
      if (place % (turns * writtenPerTurn) === 0) await othersTurn();
    }
  }

  #countOf(credentialId: string): number {
    return this.#ofCredential.get(credentialId)?.size ?? 0;
  }

  #forget(client: StreamClient): void {
    const { id } = client.principal.credential;
    this.#clients.delete(client);
    this.#ofCredential.get(id)?.delete(client);
    if (this.#countOf(id) === 0) this.#ofCredential.delete(id);
  }

  /** Returns the sent revisions; created with the first client. */
  #revisions(): SentRevisions {
    const known = this.#options.flags.current();
    this.#sent ??= new SentRevisions(known, known.revision);
    return this.#sent;
  }

  #changed(): void {
    if (this.#sent === null) return;
    const found = this.#sent.take(this.#options.flags.current());
    for (const revision of found)
      this.#sending = this.#sending.then(() => this.#send(revision)).catch((error: unknown) => this.#fail(error));
  }

  /** Ends all streams after a revision that could not be sent: their clients resume before it. */
  #fail(error: unknown): void {
    this.#options.log.error({ error }, "a revision could not be sent to the streams");
    this.end("failed");
  }

  async #send(found: FoundRevision): Promise<void> {
    const revised = this.#revised(found);
    await this.#options.values.settled(revised.properties, settleMs);
    const id = this.#revisions().markSent(found.revision);
    const shared = new Map<Audience, Buffer>();
    let place = 0;
    for (const client of this.#clients) {
      if (++place % writtenPerTurn === 0) await othersTurn();
      if (client.seen >= found.revision) continue;
      const audience = audienceOf(client.principal.scopes);
      const common =
        shared.get(audience) ?? Buffer.from(framesOf(revised, audience, this.#options.values, id).join(""));
      shared.set(audience, common);
      client.send(revised.flags.length === 0 ? common : Buffer.concat([common, this.#flagsFor(client, revised, id)]));
    }
  }

  #flagsFor({ principal }: StreamClient, revised: Revised, id: number): Buffer {
    const { flags, clock } = this.#options;
    return Buffer.from(flagFrames(revised, flags.set, flagContextOf(principal), clock.nowMs(), id).join(""));
  }

  #revised({ revision, names, flags }: FoundRevision): Revised {
    const properties = [...new Set(names.map((name) => this.#options.values.propertyOf(name)))];
    return { revision, properties, flags };
  }

  /** Sends every missed revision to the client, or the instruction to read everything again. */
  async #bringUpToDate(client: StreamClient, last: number, upTo: number): Promise<void> {
    const { pool, clock, values, log } = this.#options;
    const audience = audienceOf(client.principal.scopes);
    const reset = () => {
      client.seen = upTo;
      client.write(Buffer.from(`id: ${upTo}\nevent: reset\ndata: ${JSON.stringify({ revision: String(upTo) })}\n\n`));
    };
    try {
      for await (const found of revisionsSince(pool, clock, last, upTo)) {
        if (!client.isOpen) return;
        if (found === null) {
          reset();
          return;
        }
        const revised = this.#revised(found);
        const common = Buffer.from(framesOf(revised, audience, values, found.revision).join(""));
        client.write(Buffer.concat([common, this.#flagsFor(client, revised, found.revision)]));
        await client.drained();
      }
    } catch (error) {
      // Without its history a client still gets the truth: it reads everything again.
      log.warn({ error }, "the missed revisions of a stream could not be read");
      reset();
    }
  }
}
