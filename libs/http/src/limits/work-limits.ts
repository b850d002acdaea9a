import { AppError } from "@signalbox/core";
import type { RateLimiter } from "@signalbox/storage";
import { addressBucket } from "../request/client-address.ts";

/** Bytes of bodies, and milliseconds of processor time for reading requests, each in one window. */
export interface WorkBudget {
  readonly bytes: RateLimiter;
  readonly processorTime: RateLimiter;
}

/** What requests may cost before their handlers run, refused ones too: for a credential, and for an address without. */
export interface WorkLimits {
  readonly credential: WorkBudget;
  readonly anonymous: WorkBudget;
}

/** The caller to whom work is charged. */
export interface Payer {
  readonly principal: { readonly accountId: string; readonly credential: { readonly id: string } } | null;
  readonly clientAddress: string;
}

/** Judges a request before any work for it. @throws AppError `rate_limited` for a caller whose budget is used up */
export function admitWork(limits: WorkLimits, payer: Payer): void {
  const { bytes, processorTime } = budgetOf(limits, payer);
  for (const limiter of [bytes, processorTime]) {
    const { remaining, resetSeconds } = limiter.take(keyOf(payer), 0);
    if (remaining >= 1) continue;
    throw new AppError("rate_limited", "This caller's requests took too much work in total. Try again later.", {
      retryAfterSeconds: Math.max(1, resetSeconds),
    });
  }
}

export function chargeBytes(limits: WorkLimits, payer: Payer, bytes: number): void {
  charge(budgetOf(limits, payer).bytes, payer, bytes);
}

export function chargeProcessorTime(limits: WorkLimits, payer: Payer, ms: number): void {
  charge(budgetOf(limits, payer).processorTime, payer, ms);
}

/** Returns the key of a caller's turns: an account has one, however many credentials it has. */
export const turnOf = ({ principal, clientAddress }: Payer): string =>
  principal?.accountId ?? addressBucket(clientAddress);

/** The work is done, so what the window lacks uses it up. */
function charge(limiter: RateLimiter, payer: Payer, cost: number): void {
  const key = keyOf(payer);
  if (!limiter.take(key, cost).allowed) limiter.take(key, limiter.take(key, 0).remaining);
}

const budgetOf = ({ credential, anonymous }: WorkLimits, { principal }: Payer): WorkBudget =>
  principal ? credential : anonymous;

const keyOf = ({ principal, clientAddress }: Payer): string => principal?.credential.id ?? addressBucket(clientAddress);
