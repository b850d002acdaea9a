import { setTimeout as sleep } from "node:timers/promises";
import { run } from "./podman.ts";

const base = "localhost/node:24-slim";
const image = "localhost/signalbox";
const pauseMs = 20;

/** What the image says of itself, and how much it adds to the base with Node. */
export async function describeImage(): Promise<{
  readonly bytesAboveBase: number;
  readonly labels: Readonly<Record<string, string>>;
}> {
  const inspect = async (name: string) => JSON.parse(await run("podman", ["image", "inspect", name]))[0];
  const [ours, node] = [await inspect(image), await inspect(base)];
  return { bytesAboveBase: ours.Size - node.Size, labels: ours.Labels };
}

/** Bytes that the first process of a container holds: with what it shares with others, and with its part of that. */
export async function memoryOf(container: string): Promise<{ readonly resident: number; readonly share: number }> {
  const sums = await run("podman", ["exec", container, "cat", "/proc/1/smaps_rollup"]);
  const bytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(sums)?.[1]) * 1024;
  return { resident: bytes("Rss"), share: bytes("Pss") };
}

/** Milliseconds from the start of a container's process until its service takes work, told from outside. */
export async function readyMsOf(container: string): Promise<number> {
  await run("podman", ["stop", "--time", "30", container]);
  await run("podman", ["start", container]);
  const format =
    '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}} {{.State.StartedAt.Format "2006-01-02T15:04:05.000Z07:00"}}';
  const [address, startedAt = ""] = (await run("podman", ["inspect", "--format", format, container])).trim().split(" ");
  for (;;) {
    const answer = await fetch(`http://${address}:8081/management/health/ready`).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.status === 200) return Date.now() - Date.parse(startedAt);
    await sleep(pauseMs);
  }
}
