import { type Clock, hours, KiB, seconds } from "@signalbox/core";
import type { OutboundClient } from "@signalbox/net";
import type { Logger } from "@signalbox/runtime";
import { LRUCache } from "lru-cache";

/** `absent`: the sender's server has no certificate there. `away`: the server cannot be asked now. */
export type FoundCertificate =
  | { readonly outcome: "found"; readonly certificate: string }
  | { readonly outcome: "absent" | "away" };

/** Senders have a handful each, and change them once a year. */
const keptMax = 500;
const maxAgeMs = hours(24);
/** Separate from the kept ones, so that made-up addresses evict no certificate. */
const failuresMax = 1_000;
const pauseMs = { absent: seconds(60), away: seconds(2) };
/** Made-up addresses on the allow-list must not become a flood of requests to the sender. */
const readsAtOnceMax = 8;
const limits = { deadlineMs: seconds(5), responseBytesMax: 32 * KiB, requireHttps: true };

/** The certificates that requests name, at addresses of the source's allow-list alone. */
export class CertificateCache {
  readonly #outbound: OutboundClient;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #kept = new LRUCache<string, { readonly certificate: string; readonly readAtMs: number }>({ max: keptMax });
  readonly #failures = new LRUCache<string, { readonly outcome: "absent" | "away"; readonly untilMs: number }>({
    max: failuresMax,
  });
  readonly #reading = new Map<string, Promise<FoundCertificate>>();

  constructor(outbound: OutboundClient, clock: Clock, log: Logger) {
    this.#outbound = outbound;
    this.#clock = clock;
    this.#log = log;
  }

  /** Returns the certificate at a URL, from memory where it was read within a day. */
  async find(url: string): Promise<FoundCertificate> {
    const known = this.#kept.get(url);
    const nowMs = this.#clock.steadyMs();
    if (known && nowMs - known.readAtMs < maxAgeMs) return { outcome: "found", certificate: known.certificate };
    const failure = this.#failures.get(url);
    if (failure && failure.untilMs > nowMs) return { outcome: failure.outcome };
    const current = this.#reading.get(url);
    if (current) return current;
    if (this.#reading.size >= readsAtOnceMax) return { outcome: "away" };
    const next = this.#read(url).finally(() => this.#reading.delete(url));
    this.#reading.set(url, next);
    return next;
  }

  /** Requests the URL by which a sender wants an address confirmed. Returns false when that fails. */
  async confirm(url: string): Promise<boolean> {
    try {
      const { status } = await this.#outbound.request({ url, headers: { accept: "*/*" }, ...limits });
      return status >= 200 && status < 300;
    } catch (error) {
      this.#log.warn({ error, host: new URL(url).host }, "a sender's confirmation failed");
      return false;
    }
  }

  async #read(url: string): Promise<FoundCertificate> {
    try {
      const { status, body } = await this.#outbound.request({ url, headers: { accept: "*/*" }, ...limits });
      if (status !== 200) return this.#failed(url, status >= 400 && status < 500 ? "absent" : "away");
      const certificate = body.toString("latin1");
      this.#kept.set(url, { certificate, readAtMs: this.#clock.steadyMs() });
      return { outcome: "found", certificate };
    } catch (error) {
      this.#log.warn({ error, host: new URL(url).host }, "a sender's certificate cannot be read");
      return this.#failed(url, "away");
    }
  }

  #failed(url: string, outcome: "absent" | "away"): FoundCertificate {
    this.#failures.set(url, { outcome, untilMs: this.#clock.steadyMs() + pauseMs[outcome] });
    return { outcome };
  }
}
