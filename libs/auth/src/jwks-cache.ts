import { AppError, type Clock, isAppError, KiB, minutes, seconds } from "@signalbox/core";
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import { z } from "zod";

/** Time for which a key set is used before it is read again. */
const maxAgeMs = minutes(10);
/**
 * Shortest interval between two reads, so that invented key ids cannot make us hammer the issuer. It bounds the time for
 * which they hide a rotation, too.
 */
const pauseMs = seconds(5);
/** Without any key no token can be verified, so the next read comes sooner. */
const pauseWithoutKeysMs = seconds(1);

const Discovery = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });
const KeySetDocument = z.object({ keys: z.array(z.unknown()) });
/** The members that every key has (RFC 7517 §4); the others depend on its type. */
const PublishedKey = z.looseObject({ kty: z.string(), crv: z.unknown().optional(), alg: z.unknown().optional() });

interface Dependencies {
  /** The identifier of the issuer: the `iss` of its tokens. */
  readonly issuer: string;
  readonly clock: Clock;
  /** Called once per failed read; the last keys stay in use. */
  readonly onFailure: (error: unknown) => void;
  /** Called with the places of malformed keys, once for each set of places. */
  readonly onSkipped: (places: readonly number[]) => void;
  readonly fetch?: ((url: string) => Promise<unknown>) | undefined;
}

/**
 * Reads the signing keys of one issuer by discovery (OpenID Connect Discovery §4), through jose. An unknown key id
 * reads the set again, and is `unavailable` until that may be done; while the issuer is away, the last keys keep
 * verifying.
 */
export function createJwksCache(dependencies: Dependencies): JWTVerifyGetKey {
  const { issuer, clock, onFailure, onSkipped, fetch = fetchJson } = dependencies;
  let keys: ReturnType<typeof createLocalJWKSet> | null = null;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let triedAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;
  let skipped = "";

  return async (header, token) => {
    const aged = clock.steadyMs() - readAtMs >= maxAgeMs;
    if (keys === null || (aged && waitMs() === 0)) await readOnce();
    try {
      return await known()(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw ofKeySet(error);
      if (reading === null && waitMs() > 0) throw unreadable(waitMs(), error);
      await readOnce();
      if (readAtMs < triedAtMs) throw unreadable(pauseMs, error);
      return known()(header, token).catch((failure: unknown) => Promise.reject(ofKeySet(failure)));
    }
  };

  function known() {
    if (keys) return keys;
    throw unreadable(pauseMs);
  }

  function waitMs(): number {
    const pause = keys === null ? pauseWithoutKeysMs : pauseMs;
    return Math.max(0, triedAtMs + pause - clock.steadyMs());
  }

  function readOnce(): Promise<void> {
    if (reading === null && waitMs() > 0) return Promise.resolve();
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  }

  async function read(): Promise<void> {
    triedAtMs = clock.steadyMs();
    try {
      const discovery = Discovery.parse(await fetch(discoveryUrl(issuer)));
      if (discovery.issuer !== issuer)
        throw new Error(`the discovery document of ${issuer} names the issuer ${discovery.issuer}`);
      const published = KeySetDocument.parse(await fetch(discovery.jwks_uri)).keys;
      const usable = published.flatMap((key) => PublishedKey.safeParse(key).data ?? []);
      tellSkipped(published);
      if (usable.length === 0) throw new Error(`the key set of ${issuer} has no key`);
      keys = createLocalJWKSet({ keys: usable.map(withoutNameOfEdwards) } as JSONWebKeySet);
      readAtMs = clock.steadyMs();
    } catch (error) {
      onFailure(error);
    }
  }

  /** RFC 7517 §5: a malformed key is ignored, and the others count. */
  function tellSkipped(published: readonly unknown[]): void {
    const places = published.flatMap((key, at) => (PublishedKey.safeParse(key).success ? [] : [at]));
    if (places.length > 0 && skipped !== places.join()) onSkipped(places);
    skipped = places.join();
  }
}

const unreadable = (waitMs: number, cause?: unknown) =>
  new AppError("unavailable", "The key of this token cannot be read from its issuer now.", {
    retryAfterSeconds: Math.ceil(waitMs / 1000),
    cause,
  });

/** A key without usable numbers in it verifies no token; the other keys do. */
const ofKeySet = (error: unknown): unknown =>
  error instanceof errors.JOSEError || isAppError(error)
    ? error
    : new errors.JWKSInvalid("the key of this token cannot be used", { cause: error });

/** The curve says it all: issuers write `EdDSA` for the key and `Ed25519` (RFC 9864) in the token, or the reverse. */
function withoutNameOfEdwards(key: z.output<typeof PublishedKey>): object {
  const { alg: _, ...unnamed } = key;
  return key.crv === "Ed25519" ? unnamed : key;
}

function discoveryUrl(issuer: string): string {
  return `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
}

const deadlineMs = seconds(5);
const bytesMax = 512 * KiB;

/**
 * Reads a JSON document of a configured issuer. Its address may be a private one, because it comes from configuration;
 * time and bytes are bounded, and redirects are refused because they would leave the configured host.
 */
async function fetchJson(url: string): Promise<unknown> {
  const response = await fetch(url, {
    headers: { accept: "application/json" },
    redirect: "error",
    signal: AbortSignal.timeout(deadlineMs),
  });
  if (!response.ok || response.body === null) throw new Error(`${url} answered ${response.status}`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > bytesMax) throw new Error(`${url} answered with more than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

/** Public keys as RFC 7517 §5 writes them. */
export interface KeySet {
  readonly keys: readonly object[];
}

/**
 * Creates the keys of an issuer in this process. `read` returns the current set; a set is imported once, as long as
 * `read` returns the same object.
 */
export function createLocalKeys(read: () => KeySet): JWTVerifyGetKey {
  let current: KeySet | null = null;
  let keys = createLocalJWKSet({ keys: [] });

  return (header, token) => {
    const set = read();
    if (set !== current) {
      keys = createLocalJWKSet(set as JSONWebKeySet);
      current = set;
    }
    return keys(header, token);
  };
}
