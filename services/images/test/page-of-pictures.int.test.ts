import assert from "node:assert/strict";
import { test } from "node:test";
import { readFixture, testPerson } from "@signalbox/testing";
import { startImages } from "./harness.ts";

const [pictures, inFlight] = [60, 40];

test("a page of sixty new thumbnails is shown whole: each waits for its turn, and none is refused", async () => {
  const images = await startImages();
  try {
    const who = testPerson();
    const { id } = (await images.upload(who, await readFixture("photo.jpg"))).body;
    const sides = Array.from({ length: pictures }, (_, at) => 100 + at);
    const statuses: number[] = [];
    const show = async () => {
      for (let side = sides.pop(); side !== undefined; side = sides.pop()) {
        const path = `/images/${id}/content?width=${side}&height=${side}&fit=cover&format=jpeg`;
        statuses.push((await images.send(who, "GET", path)).status);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, show));
    assert.deepEqual([statuses.length, ...new Set(statuses)], [pictures, 200]);
  } finally {
    await images.close();
  }
});
