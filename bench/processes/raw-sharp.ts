import process from "node:process";
import sharp from "sharp";
import { percentile } from "../measure.ts";

/** Run by `images.ts`: the decoder alone in a process of its own. */
const [source = "", count = "100"] = process.argv.slice(2);
const inFlight = 2;

sharp.cache(false);
sharp.concurrency(1);

async function renders(total: number): Promise<number[]> {
  const latencies: number[] = [];
  let started = 0;
  const lane = async () => {
    while (started++ < total) {
      const startedMs = performance.now();
      await sharp(source, { failOn: "error" })
        .autoOrient()
        .resize({ width: 720 })
        .toColourspace("srgb")
        .jpeg({ quality: 80, chromaSubsampling: "4:2:0" })
        .toBuffer();
      latencies.push(performance.now() - startedMs);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return latencies;
}

await renders(10);
const [startedMs, cpu] = [performance.now(), process.cpuUsage()];
const latencies = await renders(Number(count));
const seconds = (performance.now() - startedMs) / 1000;
const { user, system } = process.cpuUsage(cpu);
const cpuMs = (user + system) / 1000 / Number(count);
process.send?.({ perSecond: Number(count) / seconds, cpuMs, p95Ms: percentile(latencies, 0.95) });
process.once("disconnect", () => process.exit());
