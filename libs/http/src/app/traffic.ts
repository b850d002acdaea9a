import type { Socket } from "node:net";
import type { Metrics } from "@signalbox/telemetry";

/** Requests in progress and bytes on connections, read at each scrape. */
export class Traffic {
  inFlight = 0;
  #in = 0;
  #out = 0;
  /** Bytes already counted, by connection. */
  readonly #counted = new WeakMap<Socket, { in: number; out: number }>();

  constructor(metrics: Metrics) {
    metrics.gauge("signalbox_http_requests_in_flight", (gauge) => gauge.set({}, this.inFlight));
    let last = { in: 0, out: 0 };
    metrics.counter("signalbox_http_bytes_total", (counter) => {
      const now = { in: this.#in, out: this.#out };
      counter.inc({ direction: "in" }, now.in - last.in);
      counter.inc({ direction: "out" }, now.out - last.out);
      last = now;
    });
  }

  /** Counts the bytes of an answered request: everything that its connection carried since the previous one. */
  ended(socket: Socket): void {
    this.inFlight -= 1;
    const before = this.#counted.get(socket);
    const { bytesRead, bytesWritten } = socket;
    this.#in += bytesRead - (before?.in ?? 0);
    this.#out += bytesWritten - (before?.out ?? 0);
    if (!before) this.#counted.set(socket, { in: bytesRead, out: bytesWritten });
    else [before.in, before.out] = [bytesRead, bytesWritten];
  }
}

const known = new WeakMap<Metrics, Traffic>();

/** Returns the traffic of a service, shared by its public and its internal listener. */
export function trafficOf(metrics: Metrics): Traffic {
  const traffic = known.get(metrics) ?? new Traffic(metrics);
  known.set(metrics, traffic);
  return traffic;
}
