/** Policy of retries. */
export interface RetryPolicy {
  /** Largest number of tries; 1 disables retries. */
  readonly triesMax: number;
  /** Longest `Retry-After` that is waited for. Beyond it the answer goes to the caller. */
  readonly waitMsMax: number;
  readonly wait: (ms: number) => Promise<void>;
}

const defaultPolicy: RetryPolicy = {
  triesMax: 3,
  waitMsMax: 30_000,
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

/** First delay without a `Retry-After`; each later one is twice as long. */
const firstWaitMs = 250;

type Fetch = (request: Request) => Promise<Response>;

/** Wraps `fetch` with retries: after an answer that invites one, or no answer, when a repetition is harmless. */
export function retrying(send: Fetch, policy: Partial<RetryPolicy> = {}): Fetch {
  const { triesMax, waitMsMax, wait } = { ...defaultPolicy, ...policy };
  return async function sendWithRetries(request) {
    for (let tries = 1; ; tries++) {
      const isLast = tries >= triesMax;
      const outcome = await tryOnce(send, isLast ? request : request.clone());
      const ms = isLast || request.signal.aborted ? null : waitBefore(request, outcome, tries);
      if (ms === null || ms > waitMsMax) {
        if ("error" in outcome) throw outcome.error;
        return outcome.response;
      }
      if ("response" in outcome) await outcome.response.body?.cancel();
      await wait(ms);
    }
  };
}

type Outcome = { readonly response: Response } | { readonly error: unknown };

const tryOnce = (send: Fetch, request: Request): Promise<Outcome> =>
  send(request).then(
    (response) => ({ response }),
    (error: unknown) => ({ error }),
  );

/** Returns the milliseconds until the next try; null for no retry. */
function waitBefore(request: Request, outcome: Outcome, tries: number): number | null {
  const backoffMs = firstWaitMs * 2 ** (tries - 1);
  if ("error" in outcome) return mayRepeat(request) ? backoffMs : null;
  const { status, headers } = outcome.response;
  // 429 means that nothing was done. The other statuses may come from a proxy in front of the service.
  const isTransient = status === 429 || (mayRepeat(request) && [502, 503, 504].includes(status));
  if (!isTransient) return null;
  const seconds = Number(headers.get("Retry-After") ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : backoffMs;
}

/** Returns true when a repetition has no second effect: by its method, or because the service remembers its key. */
const mayRepeat = ({ method, headers }: Request): boolean =>
  ["GET", "HEAD", "PUT", "DELETE"].includes(method) || headers.has("Idempotency-Key");
