import { join } from "node:path";
import { fetchGoProgram, runWithInput } from "../../engines/test/go-programs.ts";

export interface JudgedPod {
  readonly name: string;
  readonly metadata: object;
  readonly spec: object;
}

/** Builds the judge of pods from the library with which Kubernetes admits them. */
const fetchJudge = (): Promise<string> =>
  fetchGoProgram({
    name: "pod-security-0.37.2",
    source: join(import.meta.dirname, "pod-security/main.go"),
    module: "k8s.io/pod-security-admission@v0.37.2",
  });

/** Lists the refusals of a namespace of the profile "restricted", one line for each pod; empty when all are let in. */
export async function podRefusals(pods: readonly JudgedPod[]): Promise<string> {
  return await runWithInput(await fetchJudge(), [], JSON.stringify(pods));
}
