import assert from "node:assert/strict";
import { test } from "node:test";
import { MiB } from "@signalbox/core";
import type { RenderJob } from "../image-jobs.ts";
import { type ImageFacts, defaultImageLimits as limits } from "../image-limits.ts";
import { JobCosts } from "./job-costs.ts";
import { anySize } from "./test-pool.ts";

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

test("pixels, codecs and frames make a job expensive, not the size of its file", () => {
  const costs = new JobCosts();
  const ms = (...job: Parameters<typeof render>) => costs.expect(render(...job)).ms;
  assert.ok(ms({}, "avif") > 4 * ms({}));
  assert.ok(ms({ isProgressive: true }) > 1.5 * ms({}));
  assert.ok(ms({ format: "gif", frames: 300 }, "webp") > 250 * ms({ format: "gif" }, "webp"));
  assert.ok(costs.expect(render({ format: "avif", width: 7300, height: 5400 })).bytes > 600 * MiB);
  assert.ok(costs.expect(render({})).bytes < 32 * MiB);
});

test("estimates follow the measured jobs, for their own kind only, and one outlier does not move them far", () => {
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
