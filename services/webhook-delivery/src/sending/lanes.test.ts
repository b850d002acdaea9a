import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { LeasedDelivery } from "../deliveries/delivery.ts";
import { Lanes, type NextAttempt } from "./lanes.ts";
import type { SigningEndpoint } from "./signing-endpoint.ts";

const bounds = { inFlightMax: 6, inFlightMaxPerEndpoint: 4, inFlightMaxPerHost: 3 };
const limitMs = 30_000;

/** The place of a delivery of the model: its row in the queue, or its state in an instance. */
type Place = "queued" | "leased" | "attempting" | "recording" | "done";

/** The queue with two instances of lanes over it. A crashed instance comes back empty, and its leases expire. */
class Model {
  readonly endpoints = ["a", "b", "c"].map(
    (id) =>
      ({
        id,
        accountId: id === "c" ? "acc_2" : "acc_1",
        url: `https://${id === "b" ? "a" : id}.example/`,
        status: "enabled",
        settings: { max_in_flight: null },
      }) as SigningEndpoint,
  );
  readonly places = new Map<string, Place>();
  readonly instances = [this.#started(), this.#started()];
  attempts = 0;

  #started() {
    return {
      lanes: new Lanes(bounds),
      running: [] as { next: NextAttempt; leave: () => void }[],
      recording: [] as NextAttempt[],
      owned: new Set<string>(),
    };
  }

  create(at: number, count: number): void {
    for (let one = 0; one < count; one++)
      this.places.set(`${this.endpoints[at % 3]?.id}-${this.places.size}`, "queued");
  }

  /** Leases what the lanes have room for; what is past the share goes back at once. */
  claim(at: number, of: number): void {
    const instance = this.#at(at);
    const endpoint = this.endpoints[of % 3] as SigningEndpoint;
    const due = [...this.places].filter(([id, place]) => place === "queued" && id.startsWith(endpoint.id));
    const leased = due.slice(0, instance.lanes.roomOf(endpoint.id, false)).map(([id]) => deliveryOf(id, endpoint));
    const refused = new Set(instance.lanes.add(endpoint, leased, Number.POSITIVE_INFINITY));
    for (const delivery of leased) {
      if (refused.has(delivery)) continue;
      this.places.set(delivery.id, "leased");
      instance.owned.add(delivery.id);
    }
  }

  start(at: number): void {
    const instance = this.#at(at);
    for (const next of instance.lanes.takeReady()) {
      const { id } = next.delivery;
      assert.equal(this.places.get(id), "leased", `${id} is attempted while it is ${this.places.get(id)}`);
      this.places.set(id, "attempting");
      instance.running.push({ next, leave: instance.lanes.enter(next) });
      this.attempts++;
    }
    assert.ok(instance.running.length <= bounds.inFlightMax);
    const atHost = Map.groupBy(instance.running, ({ next }) => next.lane.host);
    for (const running of atHost.values()) assert.ok(running.length <= bounds.inFlightMaxPerHost);
  }

  answer(at: number, durationMs: number): void {
    const instance = this.#at(at);
    const ended = instance.running.shift();
    if (!ended) return;
    const { next, leave } = ended;
    const sample = {
      refused: false,
      overloaded: durationMs >= limitMs,
      succeeded: durationMs < limitMs,
      durationMs,
      startedMs: 0,
      endedMs: durationMs,
    };
    next.lane.limit.observe(sample, next.lane.isFull);
    leave();
    instance.lanes.room.move(next.delivery, "answer", next.lane.host);
    instance.recording.push(next);
    this.places.set(next.delivery.id, "recording");
    if (next.lane.limit.isSlow) this.#requeue(instance, instance.lanes.takeAll(next.lane.endpoint.id));
  }

  record(at: number): void {
    const instance = this.#at(at);
    const next = instance.recording.shift();
    if (!next) return;
    instance.lanes.room.move(next.delivery, "record", next.lane.host);
    instance.owned.delete(next.delivery.id);
    this.places.set(next.delivery.id, "done");
  }

  fail(at: number): void {
    const instance = this.#at(at);
    const ended = instance.running.shift();
    if (!ended) return;
    ended.leave();
    instance.lanes.room.move(ended.next.delivery, "fail", ended.next.lane.host);
    instance.owned.delete(ended.next.delivery.id);
    this.places.set(ended.next.delivery.id, "queued");
  }

  /** The endpoint is paused: its waiting deliveries go back. */
  hold(at: number, of: number): void {
    const instance = this.#at(at);
    this.#requeue(instance, instance.lanes.takeAll((this.endpoints[of % 3] as SigningEndpoint).id));
  }

  /** The process dies; after its leases have expired, everything that it had is due again. */
  crash(at: number): void {
    for (const id of this.#at(at).owned) this.places.set(id, "queued");
    this.instances[at % 2] = this.#started();
  }

  replay(): void {
    for (const [id, place] of this.places) if (place === "done") this.places.set(id, "queued");
  }

  check(): void {
    for (const { lanes, running, recording, owned } of this.instances) {
      assert.deepEqual(lanes.room.ids().toSorted(), [...owned].toSorted());
      const waiting = lanes.room.ids().length - running.length - recording.length;
      assert.ok(waiting >= 0);
      assert.equal(lanes.endpoints().length > 0, waiting > 0);
    }
    const [one, other] = this.instances.map(({ owned }) => owned);
    assert.equal([...(one ?? [])].filter((id) => other?.has(id)).length, 0, "a delivery is leased by one instance");
  }

  /** Lets everything end. */
  finish(): void {
    for (let round = 0; [...this.places.values()].some((place) => place !== "done"); round++) {
      assert.ok(round < 1_000, "deliveries are left behind");
      for (const at of [0, 1]) {
        for (const to of [0, 1, 2]) this.claim(at, to);
        this.start(at);
        while (this.#at(at).running.length > 0) this.answer(at, 1);
        while (this.#at(at).recording.length > 0) this.record(at);
      }
    }
    this.check();
    for (const { lanes } of this.instances) assert.deepEqual([lanes.room.ids(), lanes.endpoints()], [[], []]);
  }

  #at(at: number) {
    return this.instances[at % 2] as ReturnType<Model["instances"]["at"]> & object;
  }

  #requeue(instance: Model["instances"][number], some: readonly LeasedDelivery[]): void {
    for (const { id } of some) {
      this.places.set(id, "queued");
      instance.owned.delete(id);
    }
  }
}

const deliveryOf = (id: string, { id: endpointId, accountId }: SigningEndpoint) =>
  ({ id, endpointId, accountId, body: Buffer.from("{}") }) as LeasedDelivery;

const at = fc.nat(1);
const step = fc.oneof(
  fc.record({ does: fc.constant("create" as const), of: fc.nat(2), count: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ does: fc.constant("claim" as const), at, of: fc.nat(2) }),
  fc.record({ does: fc.constant("start" as const), at }),
  fc.record({ does: fc.constant("answer" as const), at, durationMs: fc.constantFrom(1, 3_000, limitMs) }),
  fc.record({ does: fc.constantFrom("record" as const, "fail" as const, "crash" as const), at }),
  fc.record({ does: fc.constant("hold" as const), at, of: fc.nat(2) }),
  fc.record({ does: fc.constant("replay" as const) }),
);

test("in any order of claims, crashes, expiries, hand-backs, holds and replays every delivery ends, and none is in two places", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const model = new Model();
      for (const one of steps) {
        if (one.does === "create") model.create(one.of, one.count);
        else if (one.does === "claim") model.claim(one.at, one.of);
        else if (one.does === "hold") model.hold(one.at, one.of);
        else if (one.does === "answer") model.answer(one.at, one.durationMs);
        else if (one.does === "replay") model.replay();
        else model[one.does](one.at);
        model.check();
      }
      model.finish();
    }),
    { numRuns: 300 },
  );
});
