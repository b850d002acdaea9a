import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { randomId, seconds } from "@signalbox/core";
import { createWakeUp, type WakeUp } from "@signalbox/runtime";
import { inSession, type Pool, sql } from "@signalbox/storage";

interface WaitLimits {
  readonly all: number;
  readonly perAccount: number;
}

interface Wait {
  readonly wakeUp: WakeUp;
  isAwake: boolean;
  canTake: boolean;
}

export interface OpenWait {
  /** Counts wake-ups from now on; call it before each look. A wait that cannot take leaves them to others. */
  reset(canTake?: boolean): void;
  wake(): void;
  until(signal: AbortSignal): Promise<void>;
  /** Ends the wait. With `passOn` another one of the consumer looks, because there may be more messages. */
  leave(passOn: boolean): void;
}

const channel = "signalbox_pull";
const listenStatement = sql("", `listen ${channel}`);
const notify = sql("pull.notify", "select pg_notify($1, $2)");
const retryMs = seconds(1);
/** A notification has at most 8,000 bytes. */
const idsPerMessage = 50;
/** The longest wait of all, a stream's, looks again this often, as the claims do for deliveries of other instances. */
const lookAgainMs = seconds(15);
const processId = randomId("process");

/** The waits for messages of pull endpoints. None looks by itself: a commit wakes one wait of each consumer. */
export class PullWaits {
  readonly #pool: Pool;
  readonly #limits: WaitLimits;
  readonly #waits = new Map<string, Set<Wait>>();
  readonly #ofAccount = new Map<string, number>();
  readonly #draining = new AbortController();
  readonly #closing = new AbortController();
  readonly #unsent = new Set<string>();
  #count = 0;
  #sending: Promise<void> | undefined;
  #listening: Promise<void> | undefined;

  constructor(pool: Pool, limits: WaitLimits) {
    this.#pool = pool;
    this.#limits = limits;
  }

  /** Aborts when the process leaves: every wait ends with what it has. */
  get draining(): AbortSignal {
    return this.#draining.signal;
  }

  get count(): number {
    return this.#count;
  }

  refusal(accountId: string): "too-many-of-account" | "too-many" | null {
    if ((this.#ofAccount.get(accountId) ?? 0) >= this.#limits.perAccount) return "too-many-of-account";
    return this.#count >= this.#limits.all ? "too-many" : null;
  }

  enter(consumerId: string, accountId: string): OpenWait {
    this.#listening ??= this.#listenForOthers();
    const wait: Wait = { wakeUp: createWakeUp(lookAgainMs), isAwake: false, canTake: true };
    const ofConsumer = this.#waits.get(consumerId) ?? new Set();
    this.#waits.set(consumerId, ofConsumer.add(wait));
    this.#add(accountId, 1);
    return {
      reset: (canTake = true) => {
        const wasAwake = wait.isAwake;
        Object.assign(wait, { isAwake: false, canTake });
        wait.wakeUp.reset();
        if (wasAwake && !canTake) this.wake(consumerId);
      },
      wake: () => wait.wakeUp.wake(),
      until: (signal) => wait.wakeUp.wait(signal),
      leave: (passOn) => {
        ofConsumer.delete(wait);
        if (ofConsumer.size === 0) this.#waits.delete(consumerId);
        this.#add(accountId, -1);
        if (passOn && wait.isAwake) this.wake(consumerId);
      },
    };
  }

  /** Wakes one wait of the consumer that sleeps. */
  wake(consumerId: string): void {
    for (const wait of this.#waits.get(consumerId) ?? []) {
      if (wait.isAwake || !wait.canTake) continue;
      wait.isAwake = true;
      wait.wakeUp.wake();
      return;
    }
  }

  /** Wakes a wait of each consumer in this instance and in every other. */
  announce(consumerIds: readonly string[]): void {
    for (const id of new Set(consumerIds)) {
      this.wake(id);
      this.#unsent.add(id);
    }
    if (this.#unsent.size > 0) this.#sending ??= this.#send();
  }

  drain(): void {
    this.#draining.abort();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#listening, this.#sending]);
  }

  #add(accountId: string, count: number): void {
    this.#count += count;
    const left = (this.#ofAccount.get(accountId) ?? 0) + count;
    if (left > 0) this.#ofAccount.set(accountId, left);
    else this.#ofAccount.delete(accountId);
  }

  /** Notifies outside of the transactions, one message at a time: a NOTIFY in busy ones makes their commits queue. */
  async #send(): Promise<void> {
    while (this.#unsent.size > 0) {
      const ids = [...this.#unsent].slice(0, idsPerMessage);
      for (const id of ids) this.#unsent.delete(id);
      // A hint only: the loop of claims of each instance finds what a lost notification was about.
      await this.#pool.query(notify, [channel, [processId, ...ids].join(" ")]).catch(() => {});
    }
    this.#sending = undefined;
  }

  async #listenForOthers(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const lost = inSession(this.#pool, async (session) => {
        session.onNotification((_, message) => {
          const [sender, ...ids] = message.split(" ");
          if (sender !== processId) for (const id of ids) this.wake(id);
        });
        await session.query(listenStatement);
        const end = AbortSignal.any([session.lost, signal]);
        if (!end.aborted) await once(end, "abort");
      });
      await lost.catch(() => {});
      await sleep(retryMs, undefined, { signal }).catch(() => {});
    }
  }
}
