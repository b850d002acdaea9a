import { spawn } from "node:child_process";
import { root } from "../generate/repository.ts";

/** One command of a task, run with the Node of this process. */
export interface Step {
  readonly name: string;
  /** A script and its arguments, from the root of the repository. */
  readonly command: readonly string[];
}

interface StepResult {
  readonly step: Step;
  readonly ok: boolean;
  readonly output: string;
  readonly seconds: number;
}

/**
 * Runs steps, `concurrency` at a time in their order, prints a line for each as it ends and the output of those that
 * failed. A failure does not stop the others, so that one run shows every problem.
 */
export async function runSteps(steps: readonly Step[], concurrency: number): Promise<boolean> {
  const waiting = [...steps];
  const results: StepResult[] = [];
  const widest = Math.max(...steps.map(({ name }) => name.length));
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
        const result = await runStep(step);
        results.push(result);
        console.log(
          `${result.ok ? "ok    " : "FAILED"} ${step.name.padEnd(widest)} ${result.seconds.toFixed(1).padStart(5)} s`,
        );
        if (!result.ok) console.log(indent(result.output));
      }
    }),
  );
  const failed = results.filter(({ ok }) => !ok);
  console.log(
    failed.length === 0
      ? `${results.length} checks passed`
      : `failed: ${failed.map(({ step }) => step.name).join(", ")}`,
  );
  return failed.length === 0;
}

function runStep(step: Step): Promise<StepResult> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, step.command, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      const seconds = (performance.now() - startedMs) / 1000;
      resolve({ step, ok: code === 0, output: Buffer.concat(chunks).toString(), seconds });
    });
  });
}

function indent(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, "    ");
}
