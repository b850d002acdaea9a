import { type Clock, hours } from "@signalbox/core";
import { LRUCache } from "lru-cache";
import { createConnectionPool, createPoolsByCertificate } from "./connection-pool.ts";
import { type ExchangeRequest, type ExchangeResponse, exchange } from "./exchange.ts";
import { wantsHttp1 } from "./outbound-error.ts";
import { type ClientCertificate, createGuardedConnector, type GuardedConnectorOptions } from "./ssrf-guard.ts";

interface ProtocolPoolOptions extends Omit<GuardedConnectorOptions, "clientCertificate"> {
  readonly clock: Clock;
  readonly connectionsPerOriginMax: number;
  readonly idleTimeoutMs: number;
  readonly http2: boolean;
}

/** Servers that want HTTP/1.1 are remembered, and tried with HTTP/2 again after this time. */
const http1OriginsMax = 1_000;
const http1ForMs = hours(1);

/** Creates the connections of one use, by protocol and client certificate. */
export function createProtocolPools({
  connectionsPerOriginMax,
  idleTimeoutMs,
  http2,
  ...guarded
}: ProtocolPoolOptions) {
  const { clock } = guarded;
  const poolsFor = (protocol: { readonly http2: boolean }) =>
    createPoolsByCertificate((clientCertificate) => {
      const connect = createGuardedConnector({ ...guarded, clientCertificate, ...protocol });
      return createConnectionPool({ connect, connectionsPerOriginMax, idleTimeoutMs, ...protocol });
    });
  const pools = poolsFor({ http2 });
  const http1Pools = http2 ? poolsFor({ http2: false }) : pools;
  const http1Origins = new LRUCache<string, true>({ max: http1OriginsMax, ttl: http1ForMs });

  return {
    /**
     * Runs the exchange, and repeats it over HTTP/1.1 when the server demands that, which it may do only before it has
     * processed anything.
     */
    async exchange(hop: ExchangeRequest, certificate: ClientCertificate | undefined): Promise<ExchangeResponse> {
      const { origin } = hop.url;
      if (http1Origins.has(origin)) return exchange(http1Pools.of(certificate), hop, clock);
      try {
        return await exchange(pools.of(certificate), hop, clock);
      } catch (error) {
        if (!wantsHttp1(error)) throw error;
        http1Origins.set(origin, true);
        return exchange(http1Pools.of(certificate), hop, clock);
      }
    },
    async destroy(): Promise<void> {
      await Promise.all([pools.destroy(), http1Pools.destroy()]);
    },
  };
}
