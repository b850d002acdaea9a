import { AppError, type Clock, minutes } from "@signalbox/core";
import { LRUCache } from "lru-cache";

/** As many accounts as are remembered; one that is asked for less often begins with a whole budget. */
const accountsMax = 10_000;

interface Account {
  leftMs: number;
  atMs: number;
}

/**
 * The time that new renditions of an account's public images may take in each minute when others than its owner ask for
 * them. It fills again as time goes by. The last rendition may take more than is left; what it took is waited for.
 */
export class RenderBudget {
  readonly #accounts = new LRUCache<string, Account>({ max: accountsMax });
  readonly #clock: Clock;
  readonly #msPerMinute: () => number;

  constructor({ clock, budgetMs }: { readonly clock: Clock; readonly budgetMs: () => number }) {
    this.#clock = clock;
    this.#msPerMinute = budgetMs;
  }

  isLeft(accountId: string): boolean {
    return this.#present(accountId).leftMs > 0;
  }

  /** @throws AppError `rate_limited`, with the time to come back, when nothing is left. */
  requireLeft(accountId: string): void {
    const { leftMs } = this.#present(accountId);
    if (leftMs > 0) return;
    const retryAfterSeconds = Math.max(1, Math.ceil((1 - leftMs) / (this.#msPerMinute() / 60)));
    throw new AppError("rate_limited", "Too many new forms of these images were requested. Try again later.", {
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
