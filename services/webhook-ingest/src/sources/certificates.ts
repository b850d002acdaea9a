import { type Clock, hours, KiB, seconds } from "@signalbox/core";
import type { OutboundClient } from "@signalbox/net";
import type { Logger } from "@signalbox/telemetry";
import { LRUCache } from "lru-cache";

interface Dependencies {
  readonly outbound: Pick<OutboundClient, "request">;
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn">;
}

/** `absent`: the sender's server has no certificate there. `away`: the server cannot be asked now. */
export type FoundCertificate =
  | { readonly outcome: "found"; readonly certificate: string }
  | { readonly outcome: "absent" | "away" };

export type Certificates = ReturnType<typeof createCertificates>;

/** Senders have a handful each, and change them once a year. */
const keptMax = 500;
const maxAgeMs = hours(24);
/** Separate from the kept ones, so that made-up addresses evict no certificate. */
const failuresMax = 1_000;
const pauseMs = { absent: seconds(60), away: seconds(2) };
/** Made-up addresses on the allow-list must not become a flood of requests to the sender. */
const readsAtOnceMax = 8;
const limits = { deadlineMs: seconds(5), responseBytesMax: 32 * KiB, requireHttps: true };

/**
 * Creates the reader of the certificates that requests of senders name. An address is never one that the request chose
 * freely: the source's allow-list has been applied to it.
 */
export function createCertificates({ outbound, clock, log }: Dependencies) {
  const kept = new LRUCache<string, { readonly certificate: string; readonly readAtMs: number }>({ max: keptMax });
  const failures = new LRUCache<string, { readonly outcome: "absent" | "away"; readonly untilMs: number }>({
    max: failuresMax,
  });
  const reading = new Map<string, Promise<FoundCertificate>>();

  async function read(url: string): Promise<FoundCertificate> {
    try {
      const { status, body } = await outbound.request({ url, headers: { accept: "*/*" }, ...limits });
      if (status === 200) {
        const certificate = body.toString("latin1");
        kept.set(url, { certificate, readAtMs: clock.steadyMs() });
        return { outcome: "found", certificate };
      }
      return failed(url, status >= 400 && status < 500 ? "absent" : "away");
    } catch (error) {
      log.warn({ error, host: new URL(url).host }, "a sender's certificate cannot be read");
      return failed(url, "away");
    }
  }

  function failed(url: string, outcome: "absent" | "away"): FoundCertificate {
    failures.set(url, { outcome, untilMs: clock.steadyMs() + pauseMs[outcome] });
    return { outcome };
  }

  return {
    /** Returns the certificate at a URL, from memory where it was read within a day. */
    async find(url: string): Promise<FoundCertificate> {
      const known = kept.get(url);
      const nowMs = clock.steadyMs();
      if (known && nowMs - known.readAtMs < maxAgeMs) return { outcome: "found", certificate: known.certificate };
      const failure = failures.get(url);
      if (failure && failure.untilMs > nowMs) return { outcome: failure.outcome };
      const current = reading.get(url);
      if (current) return current;
      if (reading.size >= readsAtOnceMax) return { outcome: "away" };
      const next = read(url).finally(() => reading.delete(url));
      reading.set(url, next);
      return next;
    },

    /** Requests the URL by which a sender wants an address confirmed. Returns false when that fails. */
    async confirm(url: string): Promise<boolean> {
      try {
        const { status } = await outbound.request({ url, headers: { accept: "*/*" }, ...limits });
        return status >= 200 && status < 300;
      } catch (error) {
        log.warn({ error, host: new URL(url).host }, "a sender's confirmation failed");
        return false;
      }
    },
  };
}
