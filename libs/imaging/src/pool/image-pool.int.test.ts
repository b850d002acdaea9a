import assert from "node:assert/strict";
import { readdir, readFile, readlink } from "node:fs/promises";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createManualClock, isAppError, MiB, systemClock } from "@signalbox/core";
import { childProcesses, eventually, killProcess, startProcess } from "@signalbox/testing";
import { defaultImageLimits } from "../formats/image-limits.ts";
import type { JobTerms } from "./image-pool.ts";
import { anySize, longAnimation, noise, openTestPool, plain, type TestPool } from "./test-pool.ts";

const hasKernelGuard = process.platform === "linux";
const decoders = () => childProcesses("image-process");

test("a process that uses the library does not load the decoder; only its children do", async () => {
  const door = fileURLToPath(new URL("../index.ts", import.meta.url));
  const script = `await import(${JSON.stringify(door)});
    const { sharedObjects } = process.report.getReport();
    console.log(sharedObjects.some((name) => /sharp|vips/.test(name)) ? "loaded" : "clean");`;
  const child = startProcess(`--eval=${script}`, ["--input-type=module"]);
  await child.exited;
  assert.equal(child.stdout.trim(), "clean", child.stderr);
});

describe("opens a pool of its own", () => {
  let images: TestPool;
  let photo: Buffer;
  before(async () => {
    [images, photo] = await Promise.all([openTestPool({ slots: 2 }), noise(1200, 800).jpeg().toBuffer()]);
  });
  after(() => images.close());

  test("a child starts warm, with an empty environment, no inherited descriptor and kernel limits", async () => {
    await images.render(photo);
    const [pid] = await decoders();
    assert.ok(pid);
    const environment = (await readFile(`/proc/${pid}/environ`, "latin1")).split("\0").filter(Boolean);
    const names = environment.map((line) => line.slice(0, line.indexOf("="))).sort();
    assert.deepEqual(names, [
      "MALLOC_ARENA_MAX",
      "MALLOC_MMAP_THRESHOLD_",
      "MALLOC_TRIM_THRESHOLD_",
      "NODE_CHANNEL_FD",
      "NODE_CHANNEL_SERIALIZATION_MODE",
      "TMPDIR",
      "UV_THREADPOOL_SIZE",
    ]);
    const descriptors = await readdir(`/proc/${pid}/fd`);
    const targets = await Promise.all(descriptors.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => "")));
    const files = targets.filter((target) => target.startsWith("/") && !target.startsWith("/dev/null"));
    assert.deepEqual(files, []);
    if (!hasKernelGuard) return;
    assert.equal(images.pool.state().memoryGuard, "kernel");
    const limits = await readFile(`/proc/${pid}/limits`, "latin1");
    assert.match(limits, /Max core file size\s+0\s+0/);
    assert.match(limits, /Max open files\s+64\s+64/);
    assert.match(limits, /Max data size\s+\d+/);
  });

  test("jobs run in parallel on children that are reused, one job each", async () => {
    for (let round = 0; round < 2; round++) {
      await Promise.all(Array.from({ length: 8 }, () => images.render(photo)));
      // The quickest jobs end before the second child is ready, and do not wait for it.
      await eventually(() => images.pool.state().alive === 2);
    }
    assert.equal(images.pool.state().started, 2);
  });

  test("a caller that leaves cancels its own job only, waiting or running", async () => {
    const facts = await images.factsOf(photo);
    const gone = new AbortController();
    const change = { width: null, format: "avif" } as const;
    const leaving = Array.from({ length: 4 }, () => images.tryToRender(photo, facts, change, { signal: gone.signal }));
    const staying = images.render(photo, { width: 100 });
    await eventually(() => images.pool.state().running > 0);
    gone.abort(new Error("gone"));
    for (const left of await Promise.allSettled(leaving)) assert.equal(left.status, "rejected");
    assert.equal((await staying).width, 100);
    await eventually(() => images.pool.state().running === 0);
    assert.deepEqual(images.pool.state().waiting, { quick: 0, heavy: 0 });
  });

  test("a child that takes too long is killed; the next job gets another", async () => {
    const facts = await images.factsOf(photo);
    const slow = await images.tryToRender(photo, facts, { width: null, format: "avif" }, { limitMs: 5 });
    assert.equal(slow.outcome.outcome, "too-slow");
    assert.equal((await images.render(photo)).width, 64);
  });

  test("a job is killed at its caller's deadline, although its own limit is later", async () => {
    const facts = await images.factsOf(photo);
    const endsByMs = systemClock.steadyMs() + 2_000;
    const beforeHandOver = async () => void (await eventually(() => systemClock.steadyMs() > endsByMs));
    const { outcome } = await images.tryToRender(photo, facts, { width: 20 }, { endsByMs, beforeHandOver });
    assert.equal(outcome.outcome, "too-slow");
  });

  test("a job that cannot start or end in time is refused immediately, with the time to return", async () => {
    const facts = await images.factsOf(photo);
    const large = { width: null, format: "avif" } as const;
    const flood = Array.from({ length: 6 }, () => images.tryToRender(photo, facts, large, { turn: "acc_flood" }));
    const late = (error: unknown) =>
      isAppError(error) && error.code === "rate_limited" && (error.retryAfterSeconds ?? 0) >= 1;
    await assert.rejects(
      images.tryToRender(photo, facts, large, { turn: "acc_flood", endsByMs: systemClock.steadyMs() + 300 }),
      late,
    );
    const other = await images.tryToRender(photo, facts, { width: 50 }, { turn: "acc_other", waitMaxMs: 5_000 });
    assert.equal(other.outcome.outcome, "rendered", "another account's turn comes before the rest of the flood");
    assert.ok(images.pool.state().running + images.pool.state().waiting.heavy > 0);
    for (const { outcome } of await Promise.all(flood)) assert.equal(outcome.outcome, "rendered");
  });

  test("of quick jobs of one turn that wait too long all but the first are refused, despite the estimate", async () => {
    const facts = await images.factsOf(photo);
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    const ask = (given: Partial<JobTerms>) => images.tryToRender(photo, facts, { width: 20 }, given);
    const holding = ["acc_one", "acc_two"].map((turn) => ask({ turn, beforeHandOver: () => held }));
    try {
      await eventually(() => images.pool.state().running === 2);
      const asked = Array.from({ length: 3 }, () => ask({ turn: "acc_many", waitMaxMs: 500 }));
      const refusals: unknown[] = [];
      for (const job of asked) job.catch((error: unknown) => refusals.push(error));
      await eventually(() => refusals.length === 2);
      for (const error of refusals) assert.ok(isAppError(error) && error.code === "rate_limited");
      letGo();
      const ended = await Promise.allSettled(asked);
      assert.equal(ended.filter(({ status }) => status === "fulfilled").length, 1);
    } finally {
      letGo();
      await Promise.all(holding);
    }
  });

  test("a job counts as started only once a child receives it", async () => {
    const facts = await images.factsOf(photo);
    let handedOver = 0;
    const killer = async () => {
      handedOver++;
      for (const pid of await decoders()) killProcess(pid);
    };
    const { outcome } = await images.tryToRender(photo, facts, { width: 77 }, { beforeHandOver: killer });
    assert.deepEqual([outcome.outcome, handedOver], ["rendered", 1]);

    const gone = new AbortController();
    const large = { width: null, format: "avif" } as const;
    const flood = Array.from({ length: 3 }, () => images.tryToRender(photo, facts, large, { signal: gone.signal }));
    await eventually(() => images.pool.state().running === 1 && images.pool.state().waiting.heavy === 2);
    const waiting = images.tryToRender(photo, facts, large, { signal: gone.signal, beforeHandOver: killer });
    await eventually(() => images.pool.state().waiting.heavy === 3);
    gone.abort(new Error("gone"));
    await assert.rejects(waiting, /gone/);
    await Promise.allSettled(flood);
    assert.equal(handedOver, 1);
    await assert.rejects(
      images.tryToRender(photo, facts, {}, { beforeHandOver: () => Promise.reject(new Error("not this one")) }),
      /not this one/,
    );
    assert.equal((await images.render(photo)).width, 64);
  });

  test("children killed under load cost only their own jobs", async () => {
    const jobs = Array.from({ length: 60 }, async () => {
      const facts = { ...(await images.factsOf(photo)) };
      return (await images.tryToRender(photo, facts, { width: 300 })).outcome.outcome;
    });
    let killed = 0;
    const ended = Promise.allSettled(jobs);
    while (killed < 10) {
      const [pid] = await decoders();
      if (pid !== undefined && killProcess(pid)) killed++;
      await eventually(async () => (await decoders()).length > 0);
    }
    const outcomes = await ended;
    const lost = outcomes.filter((outcome) => outcome.status === "rejected" || outcome.value !== "rendered");
    assert.ok(lost.length <= killed, `${lost.length} of ${killed}`);
    assert.equal((await images.render(photo)).width, 64);
  });
});

test("a refused job may return when those before it are so far done that it can start in time", async () => {
  const images = await openTestPool({ slots: 1, clock: createManualClock() });
  const gone = new AbortController();
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  try {
    const photo = await noise(1200, 800).jpeg().toBuffer();
    const facts = await images.factsOf(photo);
    const rendition = { ...anySize, format: "jpeg", width: null } as const;
    const job = { kind: "render", source: "", target: "", facts, rendition, limits: defaultImageLimits } as const;
    const { ms } = images.pool.expect(job);
    const ask = (given: Partial<JobTerms>) => images.tryToRender(photo, facts, rendition, given);
    const before = Array.from({ length: 60 }, () => ask({ signal: gone.signal, beforeHandOver: () => held }));
    const ended = Promise.allSettled(before);
    await eventually(() => images.pool.state().waiting.quick === 59);
    const refusal = { code: "rate_limited", retryAfterSeconds: Math.ceil((60 * ms - 1_000) / 1_000) };
    await assert.rejects(ask({ waitMaxMs: 1_000 }), refusal);
    gone.abort();
    letGo();
    await ended;
  } finally {
    await images.close();
  }
});

test("a job whose process had no processor is interrupted instead of too slow", async () => {
  const images = await openTestPool({ slots: 1 });
  try {
    const photo = await noise(60, 40).jpeg().toBuffer();
    const facts = await images.factsOf(photo);
    const stop = async () => {
      for (const pid of await decoders()) process.kill(pid, "SIGSTOP");
    };
    const { outcome } = await images.tryToRender(photo, facts, {}, { limitMs: 1_000, beforeHandOver: stop });
    assert.equal(outcome.outcome, "interrupted");
  } finally {
    await images.close();
  }
});

test("an image that takes too much memory is named as the cause and ends only its child", async () => {
  const images = await openTestPool({ memoryMax: 192 * MiB });
  try {
    const bomb = await plain(7300, 5400).avif({ effort: 0 }).toBuffer();
    assert.ok(bomb.length < 2_000);
    assert.equal((await images.inspect(bomb)).outcome, "out-of-memory");
    assert.equal((await images.render(await plain(100, 100).png().toBuffer())).width, 64);
  } finally {
    await images.close();
  }
});

test("a long animation of a few bytes is rendered with little memory", async () => {
  const images = await openTestPool({ memoryMax: 192 * MiB });
  try {
    const animation = await longAnimation(400, 400, 300);
    const facts = await images.factsOf(animation);
    assert.equal(facts.frames, 300);
    const { outcome } = await images.tryToRender(animation, facts, {
      format: "webp",
      width: 200,
      height: 200,
      fit: "cover",
    });
    assert.equal(outcome.outcome, "rendered");
  } finally {
    await images.close();
  }
});

test("idle children are ended except for one, which stays warm", async () => {
  const images = await openTestPool({ slots: 3, idleMs: 50 });
  try {
    const photo = await noise(1200, 800).jpeg().toBuffer();
    await Promise.all(Array.from({ length: 6 }, () => images.render(photo)));
    await eventually(() => images.pool.state().alive === 1);
    assert.equal(images.pool.state().ended.idle, images.pool.state().started - 1);
  } finally {
    await images.close();
  }
});

test("a closing pool blames no image: its jobs are unavailable, running or waiting", async () => {
  const images = await openTestPool({ slots: 1 });
  const photo = await noise(1200, 800).jpeg().toBuffer();
  const facts = await images.factsOf(photo);
  const jobs = Array.from({ length: 3 }, () => images.tryToRender(photo, facts, { width: null, format: "avif" }));
  const ended = Promise.allSettled(jobs);
  await eventually(() => images.pool.state().running > 0);
  await images.close();
  for (const job of await ended)
    assert.ok(job.status === "rejected" && isAppError(job.reason) && job.reason.code === "unavailable");
});

test("a closed pool leaves no process behind", async () => {
  const before = (await decoders()).length;
  const images = await openTestPool();
  assert.equal((await decoders()).length, before + 1);
  await images.close();
  assert.equal((await decoders()).length, before);
  await assert.rejects(images.pool.run({ kind: "header", source: "x", format: "png" }, { turn: "a", limitMs: 1000 }));
});

test("decoding limits are enforced in the child, independently of the header's claims", async () => {
  const images = await openTestPool();
  try {
    const image = await plain(300, 300).png().toBuffer();
    const limits = { ...defaultImageLimits, pixelsMax: 89_999 };
    assert.equal((await images.inspect(image, limits)).outcome, "over-limit");
  } finally {
    await images.close();
  }
});
