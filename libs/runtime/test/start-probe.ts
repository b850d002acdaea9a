import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

type Line = Record<string, unknown>;

export interface Probe {
  readonly child: ChildProcess;
  /** Every log line so far. */
  readonly lines: readonly Line[];
  /** Returns the first matching line, now or later. Rejects when the process ends without it. */
  line(fits: (line: Line) => boolean): Promise<Line>;
  /** URLs once the service is ready. */
  ready(): Promise<{ http: string; management: string }>;
  readonly exit: Promise<{ code: number | null; signal: string | null; errors: string }>;
}

/** Starts the probe service as a process of its own, on free ports. */
export function startProbe(argv: readonly string[] = []): Probe {
  const main = fileURLToPath(new URL("./probe-main.ts", import.meta.url));
  const ports = ["--http.port=0", "--management.server.port=0"].filter((port) => {
    return !argv.some((argument) => argument.startsWith(port.slice(0, -1)));
  });
  const child = spawn(process.execPath, [main, ...ports, ...argv], { stdio: ["ignore", "pipe", "pipe"] });
  const lines: Line[] = [];
  const waiting = new Set<() => void>();
  const reader = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  reader.on("line", (text) => {
    lines.push(JSON.parse(text) as Line);
    for (const look of waiting) look();
  });
  let errors = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    errors += chunk;
  });
  let ended = false;
  const exit = once(child, "close").then(([code, signal]) => {
    ended = true;
    for (const look of waiting) look();
    return { code: code as number | null, signal: signal as string | null, errors };
  });

  const line: Probe["line"] = (fits) =>
    new Promise((resolve, reject) => {
      const look = () => {
        const found = lines.find(fits);
        if (!found && !ended) return;
        waiting.delete(look);
        if (found) resolve(found);
        else
          reject(
            new Error(
              `The process ended without the line.\n${errors}\n${lines.map((one) => JSON.stringify(one)).join("\n")}`,
            ),
          );
      };
      waiting.add(look);
      look();
    });
  const ready = async () => {
    const { http, management } = await line(({ msg }) => msg === "The service is ready");
    return { http: http as string, management: management as string };
  };
  return { child, lines, line, ready, exit };
}
