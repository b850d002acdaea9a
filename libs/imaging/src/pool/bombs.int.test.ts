import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { MiB } from "@signalbox/core";
import { childProcesses, readFixture } from "@signalbox/testing";
import { inputFormats, outputFormats } from "../formats/image-formats.ts";
import { defaultImageLimits, type ImageLimits } from "../formats/image-limits.ts";
import type { Inspection } from "./inspect-image.ts";
import {
  claiming,
  deepProfile,
  inflating,
  jpegWith,
  longWebp,
  plainAs,
  pngWith,
  profileSegments,
} from "./test-bombs.ts";
import { longAnimation, openTestPool, plain, type TestPool } from "./test-pool.ts";

const memoryMax = 96 * MiB;
/** Resident memory before the first job, mostly code and mapped files; with room for another machine's. */
const baseBytes = 128 * MiB;

let images: TestPool;
let memory: ReturnType<typeof watchChildren>;
before(async () => {
  images = await openTestPool({ slots: 2, memoryMax });
  memory = watchChildren();
});
after(async () => {
  await memory.stop();
  await images.close();
});

/** Polls the peak of resident memory of every child, which the kernel keeps between two polls. */
function watchChildren() {
  let [peakBytes, isOver] = [0, false];
  const look = async () => {
    while (!isOver) {
      for (const pid of await childProcesses("image-process")) {
        const status = await readFile(`/proc/${pid}/status`, "latin1").catch(() => "");
        peakBytes = Math.max(peakBytes, 1024 * Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0));
      }
      await new Promise(setImmediate);
    }
  };
  const ended = look();
  return {
    /** Returns the peak since the last call. */
    takePeak() {
      const peak = peakBytes;
      peakBytes = 0;
      return peak;
    },
    stop() {
      isOver = true;
      return ended;
    },
  };
}

const verdictOf = (inspection: Inspection) =>
  inspection.outcome === "over-limit" ? inspection.problem.code : inspection.outcome;

/** Inspects, renders accepted images in every format, and compares the children's memory with their limit. */
async function judge(name: string, bytes: Buffer, limits: ImageLimits = defaultImageLimits): Promise<string> {
  memory.takePeak();
  const inspection = await images.inspect(bytes, limits);
  if (inspection.outcome === "accepted") {
    for (const format of outputFormats) {
      const { outcome, target } = await images.tryToRender(bytes, inspection.facts, { format });
      if (outcome.outcome === "rendered") assertClean(name, await readFile(target));
      else assert.notEqual(outcome.outcome, "too-slow", name);
    }
  }
  const peak = memory.takePeak();
  assert.ok(peak <= baseBytes + memoryMax, `${name}: ${Math.round(peak / MiB)} MiB`);
  return verdictOf(inspection);
}

const strangers = ["<script", "<?php", "%PDF", "PK\u0003\u0004", "GPSLatitude"];

function assertClean(name: string, made: Buffer): void {
  for (const stranger of strangers) assert.ok(!made.includes(stranger), `${name} carries ${stranger}`);
}

test("a file beyond a limit is refused from its header in every format, one at it is accepted", async () => {
  const limits: ImageLimits = { ...defaultImageLimits, sideMax: 2_000, pixelsMax: 640_000, avifPixelsMax: 320_000 };
  for (const format of inputFormats) {
    const height = format === "avif" ? 400 : 800;
    const sizes = {
      accepted: [800, height],
      pixels: [801, height],
      side: [2_001, 100],
      aspect_ratio: [1_608, 8],
    } as const;
    for (const [expected, [width, high]] of Object.entries(sizes)) {
      // There is no encoder for HEIC here, but headers can be written.
      const make = format === "heic" && expected !== "accepted" ? claiming : plainAs;
      assert.equal(await judge(`${format} ${expected}`, await make(format, width, high), limits), expected);
    }
  }
});

test("a header that claims more pixels than the limit is refused within its memory, for any content", async () => {
  for (const format of inputFormats) {
    const side = format === "webp" ? 16_383 : 30_000;
    const outcome = await judge(`${format} claim`, await claiming(format, side, side));
    // The WebP decoder allocates a frame before it reports its size.
    assert.equal(outcome, format === "webp" ? "out-of-memory" : "pixels", format);
  }
});

test("a header that claims an allowed size without any content fails within its memory", async () => {
  for (const format of inputFormats) {
    const outcome = await judge(`${format} void`, await claiming(format, 6_000, 6_000));
    assert.ok(["broken", "out-of-memory", "accepted"].includes(outcome), `${format}: ${outcome}`);
  }
});

test("a progressive JPEG that is decoded as a whole stays within its memory", async () => {
  const bytes = await plain(6_000, 6_000).jpeg({ progressive: true, quality: 20 }).toBuffer();
  assert.equal(await judge("progressive", bytes), "out-of-memory");
});

test("frames are judged before they are decoded, even a hundred thousand", async () => {
  const limits: ImageLimits = { ...defaultImageLimits, framesMax: 20, framesPixelsMax: 20 * 1_600 };
  assert.equal(await judge("gif at its limit", await longAnimation(40, 40, 20), limits), "accepted");
  assert.equal(await judge("gif beyond", await longAnimation(40, 40, 21), limits), "frames");
  assert.equal(await judge("gif too large", await longAnimation(41, 40, 20), limits), "frame_pixels");
  assert.equal(await judge("webp at its limit", await longWebp(20), limits), "accepted");
  assert.equal(await judge("webp beyond", await longWebp(21), limits), "frames");
  assert.equal(await judge("gif of 100,000", await longAnimation(8, 8, 100_000)), "frames");
  assert.equal(await judge("webp of 100,000", await longWebp(100_000)), "frames");
});

test("compressed texts, profiles or endless comments take no more than the allowed memory", async () => {
  const [text, profile] = [inflating(64 * MiB), await deepProfile(12 * MiB)];
  const full = Buffer.alloc(65_000, 0x41);
  const files: Record<string, Buffer> = {
    zTXt: await pngWith(Array.from({ length: 20 }, () => ["zTXt", text] as const)),
    iTXt: await pngWith([["iTXt", Buffer.concat([Buffer.from("a\0\x01\0\0\0", "latin1"), text.subarray(3)])]]),
    tEXt: await pngWith(Array.from({ length: 20_000 }, () => ["tEXt", Buffer.from("a\0b", "latin1")] as const)),
    "iCCP of zeros": await pngWith([["iCCP", text]]),
    "ICC of 12 MiB": await jpegWith(0xe2, profileSegments(profile)),
    "ICC of many tags": await jpegWith(0xe2, profileSegments(await deepProfile(0))),
    comments: await jpegWith(
      0xfe,
      Array.from({ length: 200 }, () => full),
    ),
    Exif: await jpegWith(0xe1, [Buffer.concat([Buffer.from("Exif\0\0MM\0*\0\0\0\x08\xff\xff", "latin1"), full])]),
  };
  for (const [name, bytes] of Object.entries(files)) {
    const outcome = await judge(name, bytes);
    assert.ok(["accepted", "broken"].includes(outcome), `${name}: ${outcome}`);
  }
});

test("a file that is also something else is rendered as an image alone", async () => {
  const halves = [
    "<script>alert(1)</script>",
    "<?php system($_GET[0]); ?>",
    "%PDF-1.7\n1 0 obj",
    "PK\u0003\u0004\u0014\0",
  ];
  for (const half of halves) {
    const text = Buffer.from(half, "latin1");
    assert.equal(await judge(`JPEG with ${half}`, await jpegWith(0xfe, [text])), "accepted");
    assert.equal(
      await judge(`PNG with ${half}`, await pngWith([["tEXt", Buffer.concat([Buffer.from("a\0"), text])]])),
      "accepted",
    );
    for (const format of inputFormats) {
      const bytes = Buffer.concat([await plainAs(format, 32, 32), text]);
      assert.equal(await judge(`${format} before ${half}`, bytes), "accepted");
    }
  }
  assert.equal(await judge("polyglot.jpg", await readFixture("polyglot.jpg")), "accepted");
  assert.equal(
    await judge("SVG", Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>`)),
    "not-accepted",
  );
});
