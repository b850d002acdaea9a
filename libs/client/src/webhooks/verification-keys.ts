import { readBase64 } from "./signed-delivery.ts";
import { WebhookVerificationError } from "./webhook-verification-error.ts";

/** The public keys of an account, as `GET /api/v1/webhooks/keys` answers. */
export interface KeySet {
  readonly items: readonly { readonly public_key: string; readonly ends_at?: string | null }[];
}

/** A source of the keys of an account; with `renewed` it reads them again, if it has not done so just now. */
export type KeySource = (renewed: boolean) => Promise<KeySet>;

/** A `whsec_` secret, a `whpk_` public key, the keys of an account, or their source. */
export type Secret = string | KeySet | KeySource;

/** The texts of secrets and public keys, ready to be used. */
export interface VerificationKeys {
  readonly secrets: readonly string[];
  readonly publicKeys: readonly Uint8Array<ArrayBuffer>[];
}

/** Resolves secrets, keys and sources. Unusable texts are left out: they never help another to fit. */
export async function resolveKeys(
  given: readonly Secret[],
  nowMs: number,
  renewed: boolean,
): Promise<VerificationKeys> {
  const secrets: string[] = [];
  const publicKeys: Uint8Array<ArrayBuffer>[] = [];
  for (const one of given) {
    const set = typeof one === "function" ? await one(renewed) : one;
    const texts = typeof set === "string" ? [set] : set.items.filter(isLive(nowMs)).map((key) => key.public_key);
    for (const text of texts) {
      const publicKey = text.startsWith("whpk_") ? readBase64(text.slice("whpk_".length)) : null;
      if (publicKey?.length === 32) publicKeys.push(publicKey);
      else if (secretBytes(text)) secrets.push(text);
    }
  }
  return { secrets, publicKeys };
}

const isLive =
  (nowMs: number) =>
  ({ ends_at }: KeySet["items"][number]): boolean =>
    ends_at === undefined || ends_at === null || Date.parse(ends_at) > nowMs;

/** Returns the bytes that a secret encodes, with or without `whsec_`; null for any other text. */
export function secretBytes(text: string): Uint8Array<ArrayBuffer> | null {
  const bytes = readBase64(text.startsWith("whsec_") ? text.slice("whsec_".length) : text);
  return bytes && bytes.length >= 16 && bytes.length <= 64 ? bytes : null;
}

interface KeySourceOptions {
  /** Origin of Signalbox, such as `https://signalbox.example`. */
  readonly baseUrl: string;
  /** The account that sends, as in `account_id` of its events. */
  readonly accountId: string;
  /** Replacement of `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  readonly now?: () => number;
}

/** Age at which keys are read again. The overlap of a rotation is longer. */
const keptMs = 10 * 60_000;
/** Shortest time between two reads, or forged deliveries would make a request each. */
const betweenReadsMs = 30_000;

/**
 * Creates a source of the public keys of an account: read when they are needed, kept for ten minutes, and read again
 * when a signature fits none of them. A receiver with it needs no secret, and follows rotations by itself.
 */
export function keysOfAccount({ baseUrl, accountId, fetch, now = Date.now }: KeySourceOptions): KeySource {
  const url = `${baseUrl.replace(/\/$/, "")}/api/v1/webhooks/keys?account_id=${encodeURIComponent(accountId)}`;
  const send = fetch ?? ((address: string, init: RequestInit) => globalThis.fetch(address, init));
  let kept: KeySet | null = null;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<KeySet> | null = null;

  async function read(): Promise<KeySet> {
    readAt = now();
    try {
      kept = await readKeySet(await send(url, { signal: AbortSignal.timeout(10_000) }));
    } catch (cause) {
      // Old keys verify what they verified before; without any there is nothing to go on with.
      if (!kept) throw new WebhookVerificationError("keys_unavailable", { cause });
    } finally {
      reading = null;
    }
    return kept;
  }

  return async (renewed) => {
    const age = now() - readAt;
    if (kept && age < (renewed ? betweenReadsMs : keptMs)) return kept;
    reading ??= read();
    return reading;
  };
}

async function readKeySet(answer: Response): Promise<KeySet> {
  if (!answer.ok) throw new Error(`The answer was ${answer.status}.`);
  const { items } = (await answer.json()) as Partial<KeySet>;
  if (!Array.isArray(items) || !items.every((key) => typeof key?.public_key === "string"))
    throw new Error("The response is not a valid key set.");
  return { items };
}
