import { type Clock, seconds } from "@signalbox/core";
import { isProxyError } from "@signalbox/net";
import type { Logger, Outage } from "@signalbox/runtime";
import type { LeasedDelivery } from "../deliveries/delivery.ts";
import { isSuccess } from "../deliveries/retry-schedule.ts";
import type { Attempted } from "./attempt-delivery.ts";
import type { AttemptResults } from "./attempt-results.ts";
import type { Lane } from "./lane.ts";
import type { Lanes, NextAttempt } from "./lanes.ts";
import type { Leases } from "./leases.ts";
import type { SigningEndpoint } from "./signing-endpoint.ts";

/** Makes one attempt. @throws Error when nothing could be sent, by our fault. */
export type Attempt = (delivery: LeasedDelivery, endpoint: SigningEndpoint) => Promise<Attempted>;

interface AttemptLoopParts {
  readonly lanes: Lanes;
  readonly leases: Pick<Leases, "handBack" | "leaseMs">;
  readonly attempt: Attempt;
  readonly results: Pick<AttemptResults, "add">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly attemptMsMax: () => number;
  readonly wake: () => void;
}

/** Safety margin before a lease expires and another instance takes the delivery. */
const leaseMarginMs = seconds(5);

const connecting: ReadonlySet<string> = new Set(["resolve", "connect", "tls"]);

/** Makes the attempts of the deliveries in the lanes, as many at a time as there are places. */
export class AttemptLoop {
  readonly #parts: AttemptLoopParts;
  readonly #proxyOutage: Outage;
  readonly #running = new Set<Promise<void>>();

  constructor(parts: AttemptLoopParts) {
    this.#parts = parts;
    this.#proxyOutage = parts.log.outage("The outbound proxy");
  }

  /** Takes leased deliveries of an endpoint, in their order, and starts those that have a place. */
  add(endpoint: SigningEndpoint, deliveries: readonly LeasedDelivery[]): void {
    const { lanes, leases, clock, attemptMsMax } = this.#parts;
    const startUntilMs = clock.steadyMs() + leases.leaseMs - attemptMsMax() - leaseMarginMs;
    this.#returnToQueue(lanes.add(endpoint, deliveries, startUntilMs));
    this.#pump();
  }

  /** Continues with the new state of an endpoint; unless it is enabled, its deliveries go back to the queue. */
  async update(id: string, endpoint: SigningEndpoint | null): Promise<void> {
    const { lanes } = this.#parts;
    if (endpoint?.status === "enabled") lanes.update(endpoint);
    else await this.#handBack(lanes.takeAll(id));
  }

  /** Starts no more attempts, hands back waiting deliveries, and resolves when every running attempt is recorded. */
  async stop(): Promise<void> {
    const { lanes } = this.#parts;
    lanes.room.close();
    await this.#handBack(lanes.takeAll());
    await Promise.all(this.#running);
  }

  #pump(): void {
    const { lanes, clock } = this.#parts;
    for (const next of lanes.takeReady()) {
      const { lane, delivery, startUntilMs } = next;
      const isLate = clock.steadyMs() > startUntilMs;
      const work = isLate ? this.#handBack([lanes.giveUp(lane, delivery)]) : this.#deliver(next);
      const running = work
        .catch((error: unknown) => this.#reportUnmade(error, delivery))
        .finally(() => this.#running.delete(running));
      this.#running.add(running);
    }
  }

  /** Logs one line for all deliveries that wait for the proxy, and one for each that could not be signed. */
  #reportUnmade(error: unknown, { id: deliveryId }: LeasedDelivery): void {
    if (isProxyError(error)) this.#proxyOutage.failed("deliveries", error);
    else this.#parts.log.error({ error, deliveryId }, "an attempt could not be made");
  }

  async #deliver(next: NextAttempt): Promise<void> {
    const { lane, delivery } = next;
    const { lanes, results } = this.#parts;
    const leave = lanes.enter(next);
    let attempted: Attempted | null = null;
    try {
      attempted = await this.#attempt(lane, delivery);
    } finally {
      leave();
      // Without an attempt (not signed, or no way out) the failure is ours and counts for nothing.
      lanes.room.move(delivery, attempted ? "answer" : "fail", lane.host);
      this.#afterAttempt(lane);
    }
    this.#proxyOutage.passed("deliveries");
    try {
      await results.add({ delivery, endpoint: lane.endpoint, ...attempted });
    } finally {
      lanes.room.move(delivery, "record", lane.host);
    }
  }

  async #attempt(lane: Lane, delivery: LeasedDelivery): Promise<Attempted> {
    const { clock, attempt } = this.#parts;
    const startedMs = clock.steadyMs();
    const wasFull = lane.isFull;
    const attempted = await attempt(delivery, lane.endpoint);
    const endedMs = clock.steadyMs();
    const { status, error } = attempted.result;
    const refused = status === null && connecting.has(attempted.attempt.phase ?? "");
    const succeeded = isSuccess(status);
    lane.answers[succeeded ? "succeeded" : "failed"]++;
    const overloaded = status === 429 || error === "deadline";
    const durationMs = endedMs - startedMs;
    lane.limit.observe({ refused, overloaded, succeeded, durationMs, startedMs, endedMs }, wasFull);
    return attempted;
  }

  #afterAttempt(lane: Lane): void {
    const { lanes, clock, wake } = this.#parts;
    const { id } = lane.endpoint;
    // An endpoint that has become slow keeps nothing in memory: its deliveries wait in the database.
    if (lane.limit.isSlow) this.#returnToQueue(lanes.takeAll(id));
    const restMs = lane.limit.restMs(clock.steadyMs());
    if (restMs > 0 && !lane.rests) this.#rest(lane, restMs);
    this.#pump();
    lanes.forgetIdle(lane);
    if (lane.waiting === 0 && lanes.hasBacklog(id)) wake();
  }

  #rest(lane: Lane, restMs: number): void {
    const { lanes, wake } = this.#parts;
    lanes.rest(lane, true);
    const end = () => {
      lanes.rest(lane, false);
      this.#pump();
      wake();
    };
    setTimeout(end, restMs).unref();
  }

  #returnToQueue(some: readonly LeasedDelivery[]): void {
    this.#handBack(some).catch((error: unknown) =>
      this.#parts.log.warn(
        { error, endpointId: some[0]?.endpointId },
        "deliveries could not be released; they wait until their leases expire",
      ),
    );
  }

  async #handBack(some: readonly LeasedDelivery[]): Promise<void> {
    if (some.length === 0) return;
    const { lanes, leases, wake } = this.#parts;
    await leases.handBack(some);
    for (const { endpointId } of some) lanes.setBacklog(endpointId, true);
    wake();
  }
}
