import process from "node:process";
import sharp from "sharp";

/** Run by `images.ts`: the decoder alone in a process of its own. */
const [source = "", format = "jpeg", count = "100"] = process.argv.slice(2);
const inFlight = 2;

sharp.cache(false);
sharp.concurrency(1);

const encoders = {
  jpeg: () => sized().jpeg({ quality: 80, chromaSubsampling: "4:2:0" }),
  webp: () => sized().webp({ quality: 80, effort: 2 }),
  png: () => sized().png({ compressionLevel: 6, adaptiveFiltering: false }),
};
const sized = () => sharp(source, { failOn: "error" }).autoOrient().resize({ width: 720 }).toColourspace("srgb");

async function renders(total: number): Promise<number[]> {
  const latencies: number[] = [];
  let started = 0;
  const worker = async () => {
    while (started++ < total) {
      const startedMs = performance.now();
      await encoders[format as keyof typeof encoders]().toBuffer();
      latencies.push(performance.now() - startedMs);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return latencies;
}

await renders(10);
const [startedMs, cpu] = [performance.now(), process.cpuUsage()];
const latencies = await renders(Number(count));
const { user, system } = process.cpuUsage(cpu);
process.send?.({ seconds: (performance.now() - startedMs) / 1000, cpuMs: (user + system) / 1000, latencies });
