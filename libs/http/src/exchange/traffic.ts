import type { Socket } from "node:net";
import type { Clock } from "@signalbox/core";
import type { Metrics } from "@signalbox/runtime";

/** A request in the list of running ones. */
interface RunningRequest {
  /** Its index in the list. */
  place: number;
  /** Returns the time for which it has run past its deadline, or without its client. */
  overdueMs(nowMs: number): number;
}

/** Requests in progress and bytes on connections, read at each scrape. */
export class Traffic {
  inFlight = 0;
  // Not a Set: one with constant additions and deletions slows every small collection down.
  readonly #running: RunningRequest[] = [];
  #in = 0;
  #out = 0;
  /** Bytes already counted, by connection. */
  readonly #counted = new WeakMap<Socket, { in: number; out: number }>();

  constructor(metrics: Metrics, clock: Clock) {
    metrics.gauge("signalbox_http_overdue_seconds", (gauge) => gauge.set({}, this.#overdueMs(clock.steadyMs()) / 1000));
    metrics.gauge("signalbox_http_requests_in_flight", (gauge) => gauge.set({}, this.inFlight));
    let last = { in: 0, out: 0 };
    metrics.counter("signalbox_http_bytes_total", (counter) => {
      const now = { in: this.#in, out: this.#out };
      counter.inc({ direction: "in" }, now.in - last.in);
      counter.inc({ direction: "out" }, now.out - last.out);
      last = now;
    });
  }

  /** Adds a request, until `left` takes it out: its handler may run on after its answer. */
  entered(request: RunningRequest): void {
    request.place = this.#running.push(request) - 1;
  }

  left(request: RunningRequest): void {
    const last = this.#running.pop() as RunningRequest;
    if (last === request) return;
    last.place = request.place;
    this.#running[last.place] = last;
  }

  #overdueMs(nowMs: number): number {
    return this.#running.reduce((longestMs, request) => Math.max(longestMs, request.overdueMs(nowMs)), 0);
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
export function trafficOf(metrics: Metrics, clock: Clock): Traffic {
  const traffic = known.get(metrics) ?? new Traffic(metrics, clock);
  known.set(metrics, traffic);
  return traffic;
}
