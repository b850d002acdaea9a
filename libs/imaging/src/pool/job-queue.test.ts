import assert from "node:assert/strict";
import { test } from "node:test";
import { MiB } from "@signalbox/core";
import type { RenderJob } from "../formats/image-jobs.ts";
import { type ImageFacts, defaultImageLimits as limits } from "../formats/image-limits.ts";
import { JobCosts } from "./job-costs.ts";
import { JobQueue, type QueuedJob } from "./job-queue.ts";
import { anySize } from "./test-pool.ts";

const jobOf = (turn: string, ms = 10, bytes = MiB): QueuedJob => ({ turn, cost: { ms, bytes }, start: () => {} });
const queueOf = (slots: number, jobs: readonly QueuedJob[], memoryMax = 1024 * MiB) => {
  const queue = new JobQueue({ slots, memoryMax });
  for (const job of jobs) queue.add(job, 0);
  return queue;
};
/** Runs all jobs one after the other, and returns their turns. */
function turnsOf(queue: JobQueue): string[] {
  const turns = [];
  for (let job = queue.take(0); job; job = queue.take(0)) {
    turns.push(job.turn);
    queue.ended(job);
  }
  return turns;
}

test("turns rotate by account, for any number of jobs of one of them", () => {
  const queue = queueOf(
    1,
    ["a", "a", "a", "b", "c", "c"].map((turn) => jobOf(turn)),
  );
  assert.deepEqual(turnsOf(queue), ["a", "b", "c", "a", "c", "a"]);
});

test("the next free slot goes to an account without a running job", () => {
  const queue = queueOf(2, [jobOf("a"), jobOf("a"), jobOf("a"), jobOf("a")]);
  const [first] = [queue.take(0), queue.take(0)];
  queue.add(jobOf("b"), 0);
  queue.ended(first as QueuedJob);
  assert.equal(queue.take(0)?.turn, "b");
});

test("where one account holds every slot, one job of another starts beside them, in either lane", () => {
  for (const ms of [10, 900]) {
    const queue = queueOf(2, [jobOf("a", ms), jobOf("a", 10), jobOf("a", 10)]);
    const [first] = [queue.take(0), queue.take(0)];
    assert.equal(queue.take(0), null, "its own third waits");
    assert.equal(queue.waitMs(jobOf("b", ms), 0), 0);
    for (const turn of ["b", "c"]) queue.add(jobOf(turn, ms), 0);
    assert.equal(queue.take(0)?.turn, "b");
    assert.equal(queue.take(0), null, "the next one waits for a slot");
    queue.ended(first as QueuedJob);
    assert.equal(queue.take(0), null, "now two accounts hold them");
  }
});

test("jobs stay within the slots, of which heavy ones leave one to quick ones", () => {
  const queue = queueOf(2, [jobOf("a", 900), jobOf("a", 900), jobOf("b", 10), jobOf("b", 10)]);
  const [first, second] = [queue.take(0), queue.take(0)];
  assert.deepEqual([first?.cost.ms, second?.cost.ms], [900, 10]);
  assert.equal(queue.take(0), null);
  queue.ended(second as QueuedJob);
  assert.equal(queue.take(0)?.cost.ms, 10, "a quick one, although a heavy one has waited longer");
  queue.ended(first as QueuedJob);
  assert.equal(queue.take(0)?.cost.ms, 900);
});

test("on one core heavy jobs run too", () => {
  assert.deepEqual(turnsOf(queueOf(1, [jobOf("a", 900)])), ["a"]);
});

test("running jobs together stay within the memory; one that needs more runs alone", () => {
  const queue = queueOf(4, [jobOf("a", 10, 700 * MiB), jobOf("b", 10, 700 * MiB), jobOf("c", 10, 200 * MiB)]);
  const [first, second] = [queue.take(0), queue.take(0)];
  assert.deepEqual([first?.turn, second?.turn], ["a", "c"]);
  assert.equal(queue.take(0), null);
  queue.ended(first as QueuedJob);
  assert.equal(queue.take(0)?.turn, "b");
  assert.deepEqual(turnsOf(queueOf(4, [jobOf("a", 10, 4000 * MiB)])), ["a"]);
});

test("a large job that has waited for long is not overtaken by smaller ones forever", () => {
  const queue = queueOf(4, [jobOf("a", 10, 300 * MiB), jobOf("b", 10, 900 * MiB)]);
  const running = queue.take(0) as QueuedJob;
  queue.add(jobOf("c", 10, 10 * MiB), 0);
  assert.equal(queue.take(500)?.turn, "c");
  queue.add(jobOf("c", 10, 10 * MiB), 500);
  assert.equal(queue.take(1_500), null);
  queue.ended(running);
  assert.equal(queue.take(1_500)?.turn, "b");
});

test("the wait is that of one's own turn and of as many rounds of the others, in one's own lane", () => {
  const flood = Array.from({ length: 100 }, () => jobOf("a", 20));
  const queue = queueOf(2, flood);
  const [one, two] = [queue.take(0), queue.take(0)];
  assert.ok(one && two);
  queue.add(jobOf("b", 20), 0);
  assert.equal(queue.take(0)?.turn, "b", "beside the only account that has any running");
  const waitOf = (turn: string, ms: number) => queue.waitMs({ turn, cost: { ms, bytes: MiB } }, 0);
  assert.equal(waitOf("c", 20), (20 + 3 * 20) / 2);
  assert.equal(waitOf("a", 20), (98 * 20 + 3 * 20) / 2);
  assert.equal(waitOf("c", 900), 0, "no heavy job is before it");
  for (let count = 0; count < 5; count++) queue.add(jobOf("a", 900), 0);
  assert.equal(waitOf("c", 20), 80, "one slot is left to the quick");
});

test("a turn with a thousand waiting jobs is full without filling others", () => {
  const queue = queueOf(
    1,
    Array.from({ length: 1_000 }, () => jobOf("a")),
  );
  assert.deepEqual([queue.isFull("a"), queue.isFull("b")], [true, false]);
  queue.take(0);
  assert.equal(queue.isFull("a"), false);
});

test("a job that has stopped waiting is no longer counted", () => {
  const job = jobOf("a");
  const queue = queueOf(1, [jobOf("a"), job]);
  assert.ok(queue.remove(job));
  assert.ok(!queue.remove(job));
  assert.deepEqual(queue.waiting(), { quick: 1, heavy: 0 });
});

const facts: ImageFacts = {
  format: "jpeg",
  mimeType: "image/jpeg",
  width: 3000,
  height: 2000,
  frames: 1,
  hasAlpha: false,
  isProgressive: false,
};
const render = (change: Partial<ImageFacts>, format: "jpeg" | "webp" | "avif" = "jpeg"): RenderJob => ({
  kind: "render",
  source: "in",
  target: "out",
  limits,
  facts: { ...facts, ...change },
  rendition: { ...anySize, format, width: 720 },
});

test("pixels, codecs or frames make a job expensive, not the size of its file", () => {
  const costs = new JobCosts();
  const ms = (...job: Parameters<typeof render>) => costs.expect(render(...job)).ms;
  assert.ok(ms({}, "avif") > 4 * ms({}));
  assert.ok(ms({ isProgressive: true }) > 1.5 * ms({}));
  assert.ok(ms({ format: "gif", frames: 300 }, "webp") > 250 * ms({ format: "gif" }, "webp"));
  assert.ok(costs.expect(render({ format: "avif", width: 7300, height: 5400 })).bytes > 600 * MiB);
  assert.ok(costs.expect(render({})).bytes < 32 * MiB);
});

test("estimates follow the measured jobs of their own kind, not one outlier", () => {
  const costs = new JobCosts();
  const [job, other] = [render({}), render({}, "webp")];
  const [first, untouched] = [costs.expect(job), costs.expect(other)];
  costs.learn(job, { ms: first.ms * 1000, bytes: first.bytes });
  assert.ok(costs.expect(job).ms < 2 * first.ms);
  for (let count = 0; count < 100; count++) costs.learn(job, { ms: first.ms * 3, bytes: first.bytes });
  const learned = costs.expect(job).ms / first.ms;
  assert.ok(learned > 2.7 && learned < 3.3, String(learned));
  assert.deepEqual(costs.expect(other), untouched);
});
