import { AppError, type Clock, KiB, minutes, seconds } from "@signalbox/core";
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import { z } from "zod";

/** Time for which a key set is used before it is read again. */
const maxAgeMs = minutes(10);
/** Shortest interval between two reads, so that tokens with invented key ids cannot make us hammer the issuer. */
const cooldownMs = seconds(30);

const Discovery = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });
const KeySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

interface Dependencies {
  /** The identifier of the issuer: the `iss` of its tokens. */
  readonly issuer: string;
  readonly clock: Clock;
  /** Called once per failed read; the last keys stay in use. */
  readonly onFailure: (error: unknown) => void;
  readonly fetch?: ((url: string) => Promise<unknown>) | undefined;
}

/**
 * Reads the signing keys of one issuer by discovery (OpenID Connect Discovery §4), through jose. An unknown key id
 * reads the set again; while the issuer is away, the last keys keep verifying.
 */
export function createJwksCache({ issuer, clock, onFailure, fetch = fetchJson }: Dependencies): JWTVerifyGetKey {
  let keys: ReturnType<typeof createLocalJWKSet> | null = null;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let triedAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  return async (header, token) => {
    const aged = clock.steadyMs() - readAtMs >= maxAgeMs;
    if (keys === null || (aged && mayRead())) await readOnce();
    try {
      return await known()(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !mayRead()) throw error;
      await readOnce();
      return known()(header, token);
    }
  };

  function known() {
    if (keys) return keys;
    throw new AppError("unavailable", "The token's issuer cannot be reached.", { retryAfterSeconds: 5 });
  }

  /** Without any key a pause of a second is enough, because no token can be verified; with keys the cooldown holds. */
  function mayRead(): boolean {
    return clock.steadyMs() - triedAtMs >= (keys === null ? seconds(1) : cooldownMs);
  }

  function readOnce(): Promise<void> {
    if (reading === null && !mayRead()) return Promise.resolve();
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
      keys = createLocalJWKSet(KeySet.parse(await fetch(discovery.jwks_uri)) as JSONWebKeySet);
      readAtMs = clock.steadyMs();
    } catch (error) {
      onFailure(error);
    }
  }
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
