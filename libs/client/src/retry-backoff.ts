/** Policy of retries. */
export interface RetryPolicy {
  /** Largest number of tries; 1 disables retries. */
  readonly triesMax: number;
  /** Longest `Retry-After` that is waited for. Beyond it the answer goes to the caller. */
  readonly waitMsMax: number;
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>;
}

const defaultPolicy: RetryPolicy = { triesMax: 3, waitMsMax: 30_000, wait };

/** First delay without a `Retry-After`; each later one is twice as long. */
const firstWaitMs = 250;

export type Fetch = (request: Request) => Promise<Response>;

/**
 * Wraps `fetch` with retries: after an answer that invites one, or no answer, when a repetition is harmless.
 * `isRepeatable` says so of requests whose method and headers do not show it.
 */
export function retrying(send: Fetch, policy: Partial<RetryPolicy> = {}, isRepeatable = false): Fetch {
  const { triesMax, waitMsMax, wait } = { ...defaultPolicy, ...policy };
  return async function sendWithRetries(request) {
    const mayRepeat = isRepeatable || hasOneEffect(request);
    for (let tries = 1; ; tries++) {
      const isLast = tries >= triesMax;
      const outcome = await tryOnce(send, isLast ? request : copyOf(request));
      const ms = isLast || request.signal.aborted ? null : waitBefore(mayRepeat, outcome, tries);
      if (ms === null || ms > waitMsMax) {
        if ("error" in outcome) throw outcome.error;
        return outcome.response;
      }
      if ("response" in outcome) await outcome.response.body?.cancel();
      await wait(ms, request.signal);
    }
  };
}

/** The request of each copy, which passes on its abort only while it is held. */
const origins = new WeakMap<Request, Request>();

/** Copies a request with its body. The signal is given once more: that of a clone alone may be collected before the clone. */
function copyOf(request: Request): Request {
  const copy = new Request(request.clone(), { signal: request.signal });
  origins.set(copy, request);
  return copy;
}

/** Waits, or throws the reason of the signal as soon as it is aborted. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

type Outcome = { readonly response: Response } | { readonly error: unknown };

const tryOnce = (send: Fetch, request: Request): Promise<Outcome> =>
  send(request).then(
    (response) => ({ response }),
    (error: unknown) => ({ error }),
  );

/** Returns the milliseconds until the next try; null for no retry. */
function waitBefore(mayRepeat: boolean, outcome: Outcome, tries: number): number | null {
  const backoffMs = firstWaitMs * 2 ** (tries - 1);
  if ("error" in outcome) return mayRepeat ? backoffMs : null;
  const { status, headers } = outcome.response;
  // 429 means that nothing was done. The other statuses may come from a proxy in front of the service.
  const isTransient = status === 429 || (mayRepeat && [408, 502, 503, 504].includes(status));
  return isTransient ? (retryAfterMs(headers.get("Retry-After")) ?? backoffMs) : null;
}

/** Reads `Retry-After` as seconds or as a date; null without a usable value. */
export function retryAfterMs(value: string | null): number | null {
  if (value === null || value.trim() === "") return null;
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(ms, 0);
}

/** Returns true when a repetition has no second effect: by its method, or because the service remembers its key. */
const hasOneEffect = ({ method, headers }: Request): boolean =>
  ["GET", "HEAD", "PUT", "DELETE"].includes(method) || headers.has("Idempotency-Key");
