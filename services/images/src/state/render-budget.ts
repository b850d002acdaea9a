import { AppError, type Clock, entryLimit, minutes } from "@signalbox/core";
import { LRUCache } from "lru-cache";

/** Largest number of remembered accounts; one that is requested less often starts with a full budget. */
const accountsMax = 10_000;

interface Account {
  leftMs: number;
  atMs: number;
}

/**
 * The processor time for new renditions of an account's public images in each minute when callers other than its owner
 * request them. It refills over time. The last rendition may exceed the rest, which delays the next one.
 */
export class RenderBudget {
  readonly #accounts = new LRUCache<string, Account>(entryLimit(accountsMax));
  readonly #clock: Clock;
  readonly #msPerMinute: () => number;

  constructor(clock: Clock, msPerMinute: () => number) {
    this.#clock = clock;
    this.#msPerMinute = msPerMinute;
  }

  isLeft(accountId: string): boolean {
    return this.#present(accountId).leftMs > 0;
  }

  /** @throws AppError `rate_limited`, with the time to return, when nothing is left. */
  requireLeft(accountId: string): void {
    const { leftMs } = this.#present(accountId);
    if (leftMs > 0) return;
    const retryAfterSeconds = Math.max(1, Math.ceil((1 - leftMs) / (this.#msPerMinute() / 60)));
    throw new AppError("rate_limited", "Too many new renditions of these images were requested. Try again later.", {
      retryAfterSeconds,
    });
  }

  spend(accountId: string, ms: number): void {
    this.#present(accountId).leftMs -= ms;
  }

  #present(accountId: string): Account {
    const [nowMs, budgetMs] = [this.#clock.steadyMs(), this.#msPerMinute()];
    const account = this.#accounts.get(accountId) ?? { leftMs: budgetMs, atMs: nowMs };
    const grownMs = ((nowMs - account.atMs) / minutes(1)) * budgetMs;
    account.leftMs = Math.min(budgetMs, account.leftMs + grownMs);
    account.atMs = nowMs;
    this.#accounts.set(accountId, account);
    return account;
  }
}
