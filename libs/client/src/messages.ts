import { ApiError } from "./answers.ts";
import type { Send } from "./call.ts";
import type { WebhookMessage, WebhookMessages } from "./generated/resources.ts";
import { answerTo } from "./resources.ts";

export interface MessageOptions {
  /** A named consumer of the endpoint, which reads the same stream at its own place. */
  readonly consumer?: string;
  /** Largest number of messages that are fetched at a time. Default: 10. */
  readonly limit?: number;
  /** Time after which a message of a program that died goes to another one. A live program keeps its own. Default: 60. */
  readonly leaseSeconds?: number;
  /** Ends the loop after the message in hand. */
  readonly signal?: AbortSignal;
}

/** A message as it would have been posted: `verify(rawBody, headers, secret)` returns its event. */
export interface PulledMessage extends WebhookMessage {
  readonly rawBody: Uint8Array;
  /** Ends the message before the loop does. */
  ack(): Promise<void>;
  /** Gives the message back as a failed attempt, to come again by the schedule or after `delaySeconds`. */
  nack(options?: { readonly delaySeconds?: number; readonly reason?: string }): Promise<void>;
}

const base = "/api/v1/webhooks/endpoints/{id}/messages";
/** The longest that the service waits for a first message. */
const waitSeconds = 30;

export async function* messages(
  send: Send,
  endpointId: string,
  { consumer, limit = 10, leaseSeconds = 60, signal }: MessageOptions = {},
): AsyncGenerator<PulledMessage, void, undefined> {
  const leases = new Leases(send, endpointId);
  const renewal = setInterval(() => void leases.extend(leaseSeconds), (leaseSeconds * 1000) / 3);
  const query = { limit, wait_seconds: waitSeconds, lease_seconds: leaseSeconds, consumer: consumer || undefined };
  const call = { path: { id: endpointId }, query, timeoutMs: (waitSeconds + 15) * 1000, signal };
  try {
    while (!signal?.aborted) {
      const polled = await answerTo(send, "GET", base, call).catch((error: unknown) => {
        if (signal?.aborted) return { items: [] };
        throw error;
      });
      const { items } = polled as WebhookMessages;
      for (const { lease_id } of items) leases.add(lease_id);
      for (const item of items) {
        if (signal?.aborted) break;
        const message = leases.messageOf(item);
        let isFinished = false;
        try {
          yield message;
          isFinished = true;
        } finally {
          await (isFinished ? message.ack() : message.nack({ reason: "The program did not finish it." }));
        }
      }
    }
  } finally {
    clearInterval(renewal);
    await leases.giveBack();
  }
}

export async function consume(
  send: Send,
  endpointId: string,
  handler: (message: PulledMessage) => unknown,
  { concurrency = 1, signal, ...options }: MessageOptions & { readonly concurrency?: number } = {},
): Promise<void> {
  const failed = new AbortController();
  const ends = AbortSignal.any([failed.signal, ...(signal ? [signal] : [])]);
  const work = async () => {
    for await (const message of messages(send, endpointId, { ...options, limit: 1, signal: ends })) {
      try {
        await handler(message);
      } catch (error) {
        await message.nack({ reason: error instanceof Error ? error.message : String(error) });
      }
    }
  };
  const workers = Array.from({ length: concurrency }, () =>
    work().catch((error: unknown) => {
      failed.abort(error);
      throw error;
    }),
  );
  await Promise.allSettled(workers);
  await Promise.all(workers);
}

/** The leases that this program holds. Each is ended once, by whichever end comes first. */
class Leases {
  readonly #send: Send;
  readonly #endpointId: string;
  readonly #held = new Set<string>();

  constructor(send: Send, endpointId: string) {
    this.#send = send;
    this.#endpointId = endpointId;
  }

  add(leaseId: string): void {
    this.#held.add(leaseId);
  }

  messageOf(item: WebhookMessage): PulledMessage {
    const { body, body_encoding, lease_id } = item;
    const end = async (verb: string, input: object) => {
      if (this.#held.delete(lease_id)) await this.#post(verb, { lease_ids: [lease_id], ...input });
    };
    return {
      ...item,
      rawBody:
        body_encoding === "base64"
          ? Uint8Array.from(atob(body), (character) => character.charCodeAt(0))
          : new TextEncoder().encode(body),
      ack: () => end("ack", {}),
      nack: ({ delaySeconds, reason } = {}) =>
        end("nack", {
          delay_seconds: delaySeconds,
          reason: reason?.slice(0, 200),
        }),
    };
  }

  /** A failure is no reason to stop: the next renewal, or the end of the message, meets it again. */
  async extend(leaseSeconds: number): Promise<void> {
    if (this.#held.size === 0) return;
    const input = { lease_ids: [...this.#held], lease_seconds: leaseSeconds };
    await this.#post("extend", input).catch(() => undefined);
  }

  /** Gives back what was fetched and not begun, so that it does not wait for the end of its lease. */
  async giveBack(): Promise<void> {
    if (this.#held.size === 0) return;
    const input = { lease_ids: [...this.#held], delay_seconds: 0, reason: "The program stopped before it." };
    this.#held.clear();
    await this.#post("nack", input).catch(() => undefined);
  }

  async #post(verb: string, body: object): Promise<void> {
    const call = { path: { id: this.#endpointId }, body, isRepeatable: true };
    await answerTo(this.#send, "POST", `${base}/${verb}`, call).catch((error: unknown) => {
      // The lease ended before: the message comes again, as everything may that is delivered at least once.
      if (!(error instanceof ApiError && error.status === 409)) throw error;
    });
  }
}
