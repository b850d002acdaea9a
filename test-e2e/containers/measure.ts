import { setTimeout as sleep } from "node:timers/promises";
import { run } from "./podman.ts";

const base = "localhost/node:24-slim";
const image = "localhost/signalbox";
const pauseMs = 20;

/** Measures the image: its metadata, and its size on top of the base with Node. */
export async function describeImage(): Promise<{
  readonly bytesAboveBase: number;
  readonly labels: Readonly<Record<string, string>>;
}> {
  const inspect = async (name: string) => JSON.parse(await run("podman", ["image", "inspect", name]))[0];
  const [ours, node] = [await inspect(image), await inspect(base)];
  return { bytesAboveBase: ours.Size - node.Size, labels: ours.Labels };
}

/** Reads the memory of a container's first process: with all shared pages, and with its part of them. */
export async function memoryOf(container: string): Promise<{ readonly resident: number; readonly share: number }> {
  const sums = await run("podman", ["exec", container, "cat", "/proc/1/smaps_rollup"]);
  const bytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(sums)?.[1]) * 1024;
  return { resident: bytes("Rss"), share: bytes("Pss") };
}

/** Measures the time from the start of a container's process until the service is ready, seen from outside. */
export async function startOf(container: string): Promise<{ readonly readyMs: number; readonly processorMs: number }> {
  await run("podman", ["stop", "--time", "30", container]);
  await run("podman", ["start", container]);
  const state = JSON.parse(await run("podman", ["inspect", container]))[0];
  const [network] = Object.values<{ IPAddress: string }>(state.NetworkSettings.Networks);
  const url = `http://${network?.IPAddress}:8081/management/health/ready`;
  for (;;) {
    const answer = await fetch(url).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.status === 200) break;
    await sleep(pauseMs);
  }
  return { readyMs: Date.now() - Date.parse(state.State.StartedAt), processorMs: await processorMsOf(container) };
}

/** Reads the processor time of a container's first process. On an idle core its start takes about as long. */
async function processorMsOf(container: string): Promise<number> {
  const fields = (await run("podman", ["exec", container, "cat", "/proc/1/stat"])).split(" ");
  const [user, system] = [Number(fields[13]), Number(fields[14])];
  return (user + system) * msPerTick;
}
const msPerTick = 10;
