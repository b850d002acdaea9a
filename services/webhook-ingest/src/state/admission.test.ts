import assert from "node:assert/strict";
import { test } from "node:test";
import { Admission, type Place } from "./admission.ts";

const limits = { requestsPerSource: 3, arrivingPerSource: 4, arriving: 6, bytesPerSource: 100, bytes: 150 };

/** Requests by name, and those that gave way, in their order. */
function start() {
  const admission = new Admission(limits);
  const gone: string[] = [];
  const enter = (sourceId: string, name: string) => admission.enter(sourceId, () => gone.push(name));
  const whole = (sourceId: string, name: string, bytes: number): Place | null => {
    const place = enter(sourceId, name);
    if (place?.moved(bytes) && place.arrived()) return place;
    place?.leave();
    return null;
  };
  return { gone, enter, whole };
}

test("requests and bytes in hand are limited per source, and a place that is left is free again", () => {
  const { enter, whole } = start();
  const places = ["1", "2", "3"].map((name) => whole("a", name, 10));
  assert.ok(places.every((place) => place !== null));
  assert.equal(enter("a", "4"), null, "a fourth request");
  places[0]?.leave();
  places[0]?.leave();
  assert.equal(whole("a", "5", 81), null, "more bytes than it may have");
  assert.notEqual(whole("a", "6", 80), null);
});

test("one source's burst leaves room for another, until the process is full", () => {
  const { whole } = start();
  const own = whole("a", "1", 100);
  assert.equal(whole("b", "2", 51), null);
  assert.notEqual(whole("b", "3", 50), null);
  own?.leave();
  assert.notEqual(whole("c", "4", 100), null);
});

test("a request with an incomplete body blocks no request with a complete one", () => {
  const { gone, enter, whole } = start();
  for (const name of ["slow 1", "slow 2", "slow 3", "slow 4"]) assert.notEqual(enter("a", name), null);
  for (const name of ["1", "2", "3"]) assert.notEqual(whole("a", name, 10), null);
  assert.deepEqual(gone, ["slow 1"], "the first made room for one that came, and those that came are not on their way");
});

test("of many concurrent requests the limit is accepted, and the others are refused when their bodies are complete", () => {
  const { gone, enter } = start();
  const places = ["1", "2", "3", "4"].map((name) => enter("a", name));
  assert.deepEqual(
    places.map((place) => place?.moved(10) && place.arrived()),
    [true, true, true, false],
  );
  assert.deepEqual(gone, []);
});

test("slow bodies give way to free bytes, the one idle for the longest time first", () => {
  const { gone, enter, whole } = start();
  const [first, second] = [enter("a", "first"), enter("a", "second")];
  for (const place of [first, second]) assert.equal(place?.moved(40), true);
  assert.equal(first?.moved(1), true, "the first one moves, the second stands");
  assert.notEqual(whole("a", "new", 50), null);
  assert.deepEqual(gone, ["second"]);
  assert.equal(second?.moved(1), false, "it has lost its place");
  second?.leave();
  assert.notEqual(whole("a", "next", 9), null, "what left twice is subtracted once");
});

test("slow bodies of one source give way to another source, too", () => {
  const { gone, enter, whole } = start();
  assert.equal(enter("a", "slow")?.moved(100), true);
  assert.notEqual(whole("b", "honest", 60), null);
  for (const name of ["1", "2", "3", "4"]) enter("c", name);
  for (const name of ["5", "6", "7"]) enter("d", name);
  assert.deepEqual(gone, ["slow", "1"]);
});
