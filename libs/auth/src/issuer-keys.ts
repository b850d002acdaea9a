import { AppError, type Clock, minutes, seconds } from "@signalbox/core";
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import { z } from "zod";
import { fetchJson } from "./fetch-json.ts";

/** How long a key set is used before it is read again. */
const maxAgeMs = minutes(10);
/** The least time between two reads, so that tokens with made-up key ids cannot make us hammer the issuer. */
const cooldownMs = seconds(30);

const Discovery = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });
const KeySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

interface Dependencies {
  /** The issuer's identifier: the URL its tokens carry as `iss`. */
  readonly issuer: string;
  readonly clock: Clock;
  /** Told once per failed read; the keys last read stay in use. */
  readonly onFailure: (error: unknown) => void;
  readonly fetch?: (url: string) => Promise<unknown>;
}

/**
 * The signing keys of one issuer, found by discovery (OpenID Connect Discovery §4) and read through jose. A key id that
 * is not known reads the set again; when the issuer is away, the keys last read keep verifying.
 */
export function createIssuerKeys({ issuer, clock, onFailure, fetch = fetchJson }: Dependencies): JWTVerifyGetKey {
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

  /** Without any key there is nothing to serve, so a second's pause is enough; with keys the cooldown holds. */
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
      if (discovery.issuer !== issuer) throw new Error(`${issuer} says that it is ${discovery.issuer}`);
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
