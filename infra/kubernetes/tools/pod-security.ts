import { execFile } from "node:child_process";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { environment } from "@signalbox/config";
import { enginesFolder } from "../../engines/engine-folders.ts";
import { fetchOnce } from "../../engines/fetch-once.ts";
import { findGo } from "./kubernetes-tools.ts";

const run = promisify(execFile);

const admission = "k8s.io/pod-security-admission@v0.37.2";
/** Changes with the version of the library. */
const folder = join(enginesFolder, "pod-security-0.37.2");

export interface JudgedPod {
  readonly name: string;
  readonly metadata: object;
  readonly spec: object;
}

/** Builds the judge of pods from the library with which Kubernetes admits them. */
export async function fetchPodSecurity(): Promise<void> {
  await fetchOnce(folder, async (target) => {
    await findGo();
    const go = (...args: readonly string[]) => run("go", args, { cwd: target, env: environment() });
    await cp(join(import.meta.dirname, "pod-security/main.go"), join(target, "main.go"));
    await go("mod", "init", "pod-security");
    await go("get", admission);
    await go("mod", "tidy");
    await go("build", "-o", "pod-security", ".");
  });
}

/** Lists the refusals of a namespace of the profile "restricted", one line for each pod; empty when all are let in. */
export async function podRefusals(pods: readonly JudgedPod[]): Promise<string> {
  const judged = run(join(folder, "pod-security"), { encoding: "utf8" });
  judged.child.stdin?.end(JSON.stringify(pods));
  return (await judged).stdout;
}
