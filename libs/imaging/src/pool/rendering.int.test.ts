import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { isUnavailable } from "@signalbox/core";
import { fixtureNames, readFixture } from "@signalbox/testing";
import sharp from "sharp";
import { fits, planGeometry } from "../formats/geometry.ts";
import { outputFormats, outputTraits } from "../formats/image-formats.ts";
import { defaultImageLimits } from "../formats/image-limits.ts";
import type { Rendition } from "../formats/rendition.ts";
import { sniffImage } from "../formats/sniff-image.ts";
import { anySize, halves, noise, openTestPool, plain, similarity, type TestPool } from "./test-pool.ts";

let images: TestPool;
before(async () => {
  images = await openTestPool();
});
after(() => images.close());

const render = (source: Buffer, change: Partial<Rendition> = {}) => images.render(source, change);

async function colourAt(bytes: Buffer, x: number, y: number) {
  const { data } = await sharp(bytes)
    .extract({ left: x, top: y, width: 1, height: 1 })
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return (data[0] as number) > 200 && (data[2] as number) < 60
    ? "red"
    : (data[2] as number) > 200 && (data[0] as number) < 60
      ? "blue"
      : [...data].join();
}

test("every accepted format becomes every output format of the promised size", async () => {
  const inputs = [
    await halves(120, 80).jpeg().toBuffer(),
    await halves(120, 80).png().toBuffer(),
    await halves(120, 80).gif().toBuffer(),
    await halves(120, 80).webp().toBuffer(),
    await halves(120, 80).avif({ effort: 0 }).toBuffer(),
    await halves(120, 80).tiff().toBuffer(),
  ];
  for (const input of inputs) {
    for (const format of outputFormats) {
      const made = await render(input, { format, width: 60 });
      const sniffed = sniffImage(made.bytes);
      assert.equal(sniffed.kind === "accepted" && sniffed.mimeType, outputTraits[format].mimeType);
      assert.deepEqual([made.width, made.height, made.sizeBytes], [60, 40, made.bytes.length]);
      assert.equal(await colourAt(made.bytes, 5, 20), "red");
      assert.equal(await colourAt(made.bytes, 55, 20), "blue");
    }
  }
});

test("every accepted file has a full-size rendition, as well as a small one, in every output format", async () => {
  const frames = await Promise.all(["#f00", "#00f"].map((colour) => plain(90, 60).tint(colour).png().toBuffer()));
  const moving = sharp(frames, { join: { animated: true } });
  const made = [
    moving.clone().withMetadata({ orientation: 6 }).webp(),
    moving.clone().gif(),
    noise(60, 40).withMetadata({ orientation: 5 }).jpeg({ progressive: true }),
    noise(60, 40).greyscale().png({ palette: true }),
    noise(60, 40).toColourspace("rgb16").png(),
    noise(60, 40).toColourspace("cmyk").tiff(),
  ].map((image) => image.toBuffer());
  const files = await Promise.all([...fixtureNames.map((name) => readFixture(name)), ...made]);
  let accepted = 0;
  for (const bytes of files) {
    const inspection = await images.inspect(bytes);
    if (inspection.outcome !== "accepted") continue;
    accepted++;
    const { facts } = inspection;
    for (const format of outputFormats) {
      for (const width of facts.width * facts.height > 2_000_000 ? [128] : [null, 128]) {
        const { outcome } = await images.tryToRender(bytes, facts, { format, width });
        assert.ok(
          outcome.outcome === "rendered",
          `${facts.mimeType} ${facts.width} ${format} ${JSON.stringify(outcome)}`,
        );
        const { width: across, height } = outcome.result;
        const wanted = planGeometry(facts, { ...anySize, width }).output;
        assert.deepEqual([across, height], [wanted.width, wanted.height], format);
      }
    }
  }
  assert.equal(accepted, 18);
});

test("each fit produces the planned size, still or animated", async () => {
  const still = await halves(120, 80).png().toBuffer();
  const frame = (colour: string) =>
    sharp({ create: { width: 120, height: 80, channels: 3, background: colour } })
      .png()
      .toBuffer();
  const animated = await sharp([await frame("#f00"), await frame("#0f0"), await frame("#00f")], {
    join: { animated: true },
  })
    .gif()
    .toBuffer();
  const sizes = { inside: [50, 33], outside: [75, 50], cover: [50, 50], contain: [50, 50], fill: [50, 50] };
  for (const fit of fits) {
    const made = await render(still, { width: 50, height: 50, fit });
    assert.deepEqual([made.width, made.height], sizes[fit], fit);
    for (const format of ["gif", "webp"] as const) {
      const moving = await render(animated, { width: 50, height: 50, fit, format });
      assert.deepEqual([moving.width, moving.height], sizes[fit], `${fit} ${format}`);
      assert.equal((await sharp(moving.bytes).metadata()).pages, 3, `${fit} ${format}`);
    }
  }
  assert.equal((await sharp((await render(animated, { format: "jpeg" })).bytes).metadata()).pages, undefined);
});

test("orientation is applied while location, camera and profile are dropped", async () => {
  const exif = { IFD0: { Make: "SecretCamera" }, IFD3: { GPSLatitude: "52/1 31/1 0/1" } };
  const photo = await halves(120, 80)
    .withMetadata({ orientation: 6 })
    .withExifMerge(exif)
    .keepIccProfile()
    .jpeg()
    .toBuffer();
  assert.ok(photo.includes("SecretCamera"));
  for (const format of outputFormats) {
    const made = await render(photo, { format, width: null });
    assert.deepEqual([made.width, made.height], [80, 120], format);
    assert.equal(await colourAt(made.bytes, 40, 10), "red", format);
    const kept = await sharp(made.bytes).metadata();
    assert.deepEqual(
      [kept.exif, kept.xmp, kept.iptc, kept.icc, kept.orientation ?? 1],
      [undefined, undefined, undefined, undefined, 1],
      format,
    );
    assert.ok(!made.bytes.includes("SecretCamera"), format);
  }
});

test("other colour spaces become sRGB with the same look", async () => {
  const cmyk = await halves(120, 80).toColourspace("cmyk").jpeg({ quality: 100 }).toBuffer();
  const wide = await halves(120, 80).withIccProfile("p3").png().toBuffer();
  const deep = await halves(120, 80).toColourspace("rgb16").png().toBuffer();
  for (const input of [cmyk, wide, deep]) {
    const made = await render(input, { format: "jpeg" });
    const { space, channels, depth } = await sharp(made.bytes).metadata();
    assert.deepEqual([space, channels, depth], ["srgb", 3, "uchar"]);
  }
  assert.equal(await colourAt((await render(wide)).bytes, 5, 5), "red");
});

test("transparency is kept where the format has it, white elsewhere", async () => {
  const clear = await sharp({
    create: { width: 40, height: 40, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } },
  })
    .png()
    .toBuffer();
  assert.equal((await sharp((await render(clear, { format: "webp" })).bytes).metadata()).hasAlpha, true);
  assert.equal(await colourAt((await render(clear, { format: "jpeg" })).bytes, 5, 5), "255,255,255");
  const opaque = await halves(40, 20).jpeg().toBuffer();
  const padded = await render(opaque, { width: 40, height: 40, fit: "contain", format: "jpeg" });
  // JPEG lets the red of the picture bleed a little into the bar.
  for (const value of (await colourAt(padded.bytes, 20, 2)).split(",")) assert.ok(Number(value) > 245, value);
  const paddedClear = await render(opaque, { width: 40, height: 40, fit: "contain" });
  const [, , , alpha] = await sharp(paddedClear.bytes)
    .extract({ left: 20, top: 2, width: 1, height: 1 })
    .raw()
    .toBuffer();
  assert.equal(alpha, 0);
});

test("the focal point decides the content of a crop", async () => {
  const wide = await halves(300, 100).png().toBuffer();
  const at = async (x: number) =>
    colourAt((await render(wide, { width: 50, height: 50, fit: "cover", focalPoint: { x, y: 0.5 } })).bytes, 25, 25);
  assert.equal(await at(0.1), "red");
  assert.equal(await at(0.9), "blue");
});

test("a crop by attention keeps the salient part at any position", async () => {
  const spot = await noise(100, 100).modulate({ saturation: 4 }).tint("#ff2000").png().toBuffer();
  for (const left of [20, 680]) {
    const image = await plain(800, 200)
      .composite([{ input: spot, left, top: 50 }])
      .png()
      .toBuffer();
    const crop = { width: 200, height: 200, fit: "cover", format: "png" } as const;
    const [seen, centre] = [await images.render(image, { ...crop, attention: true }), await images.render(image, crop)];
    assert.deepEqual([seen.width, seen.height], [200, 200]);
    const redOf = async (bytes: Buffer) => (await sharp(bytes).stats()).channels[0]?.max ?? 0;
    assert.ok((await redOf(seen.bytes)) > 150 && (await redOf(centre.bytes)) < 50, String(left));
  }
});

test("a background shows through and around an image, in formats with transparency or without", async () => {
  const hole = await sharp({ create: { width: 40, height: 20, channels: 4, background: "#00000000" } })
    .png()
    .toBuffer();
  for (const format of ["png", "jpeg", "webp"] as const) {
    const contained = { width: 40, height: 40, fit: "contain", format, background: "20c040" } as const;
    const { bytes } = await images.render(hole, contained);
    const pixels = await sharp(bytes).removeAlpha().raw().toBuffer();
    for (const at of [0, (20 * 40 + 20) * 3]) {
      const [red = 0, green = 0, blue = 0] = pixels.subarray(at, at + 3);
      assert.ok(Math.abs(red - 0x20) < 6 && Math.abs(green - 0xc0) < 6 && Math.abs(blue - 0x40) < 6, `${format} ${at}`);
    }
    assert.ok((await sharp(bytes).stats()).isOpaque, format);
  }
});

test("of all metadata only author and copyright are kept, on request", async () => {
  const exif = {
    IFD0: { Artist: "Ann", Copyright: "(c) Ann Arbor" },
    IFD3: { GPSLatitudeRef: "N", GPSMapDatum: "SECRET" },
  };
  const photo = await noise(60, 40).withExif(exif).jpeg().toBuffer();
  assert.ok(photo.includes("SECRET"));
  for (const format of ["jpeg", "png", "webp", "avif"] as const) {
    const { bytes } = await images.render(photo, { width: null, format, copyright: true });
    const kept = (await sharp(bytes).metadata()).exif;
    assert.ok(kept?.includes("Ann Arbor") && kept.includes("Ann\0"), format);
    assert.ok(!bytes.includes("SECRET"), format);
    assert.equal((await sharp((await images.render(photo, { width: null, format })).bytes).metadata()).exif, undefined);
  }
});

test("the automatic quality looks the same in every format", async () => {
  const photos = await Promise.all((["photo.jpg", "photo-rotated.jpg", "small.webp"] as const).map(readFixture));
  const similarities = new Map<string, number>();
  for (const photo of photos) {
    const exact = (await images.render(photo, { width: 300, format: "png" })).bytes;
    for (const format of ["jpeg", "webp", "avif"] as const) {
      const { bytes } = await images.render(photo, { width: 300, format, quality: outputTraits[format].autoQuality });
      const before = similarities.get(format) ?? 0;
      similarities.set(format, before + (await similarity(exact, bytes)) / photos.length);
    }
  }
  const all = [...similarities.values()];
  assert.ok(Math.min(...all) > 0.95 && Math.max(...all) - Math.min(...all) < 0.01, JSON.stringify([...similarities]));
});

test("the same rendition of the same bytes is byte-identical", async () => {
  const source = await halves(300, 200).jpeg().toBuffer();
  for (const format of outputFormats) {
    const [one, two] = [await render(source, { format }), await render(source, { format })];
    assert.ok(one.bytes.equals(two.bytes), format);
  }
});

test("a truncated image is broken, with a message that is only logged", async () => {
  const photo = await noise(600, 400).jpeg().toBuffer();
  const facts = await images.factsOf(photo);
  const { outcome } = await images.tryToRender(photo.subarray(0, photo.length / 2), facts, { format: "webp" });
  assert.equal(outcome.outcome, "broken");
});

test("a full disk is an outage, not the image's fault", async () => {
  const photo = await noise(600, 400).jpeg().toBuffer();
  const facts = await images.factsOf(photo);
  const source = await images.stored(photo);
  for (const format of outputFormats) {
    for (const target of ["/dev/full", join(images.folder, "nowhere", "it")]) {
      const rendition = { ...anySize, format };
      const job = { kind: "render", source, target, facts, rendition, limits: defaultImageLimits } as const;
      const work = images.pool.run(job, { turn: "acc_1", limitMs: 60_000 });
      await assert.rejects(work, (error) => isUnavailable(error), `${format} to ${target}`);
    }
  }
});

test("an original that cannot be read is an outage, not the image's fault", async () => {
  const facts = await images.factsOf(await noise(60, 40).jpeg().toBuffer());
  const source = join(images.folder, "nowhere", "it");
  const limits = defaultImageLimits;
  const terms = { turn: "acc_1", limitMs: 60_000 };
  await assert.rejects(images.pool.run({ kind: "header", source, format: "jpeg" }, terms), (error) =>
    isUnavailable(error),
  );
  await assert.rejects(images.pool.run({ kind: "look", source, facts, limits }, terms), (error) =>
    isUnavailable(error),
  );
});
