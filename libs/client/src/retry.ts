/** When a request that failed is sent again. */
export interface RetryPolicy {
  /** Tries in all; 1 sends nothing again. */
  readonly triesMax: number;
  /** A `Retry-After` beyond this is the caller's to wait for: the answer is handed over. */
  readonly waitMsMax: number;
  readonly wait: (ms: number) => Promise<void>;
}

const usual: RetryPolicy = {
  triesMax: 3,
  waitMsMax: 30_000,
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

/** The first wait where the server names none; each later one is twice as long. */
const firstWaitMs = 250;

type Fetch = (request: Request) => Promise<Response>;

/** Sends a request again when the answer invites to it, or none came, and a repetition does no harm. */
export function retrying(send: Fetch, policy: Partial<RetryPolicy> = {}): Fetch {
  const { triesMax, waitMsMax, wait } = { ...usual, ...policy };
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

/** Milliseconds to wait before the next try; null when there should be none. */
function waitBefore(request: Request, outcome: Outcome, tries: number): number | null {
  const backoffMs = firstWaitMs * 2 ** (tries - 1);
  if ("error" in outcome) return mayRepeat(request) ? backoffMs : null;
  const { status, headers } = outcome.response;
  // 429 says that nothing was done. The others may come from something between us and the service.
  const isTransient = status === 429 || (mayRepeat(request) && [502, 503, 504].includes(status));
  if (!isTransient) return null;
  const seconds = Number(headers.get("Retry-After") ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : backoffMs;
}

/** A second time has the effect of the first: by its method, or because the service remembers its key. */
const mayRepeat = ({ method, headers }: Request): boolean =>
  ["GET", "HEAD", "PUT", "DELETE"].includes(method) || headers.has("Idempotency-Key");
