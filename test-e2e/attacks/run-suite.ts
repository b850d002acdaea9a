import { credentials } from "./groups/credentials.ts";
import { crossAccount } from "./groups/cross-account.ts";
import { graphql } from "./groups/graphql.ts";
import type { Group } from "./groups/group.ts";
import { http } from "./groups/http.ts";
import { limits } from "./groups/limits.ts";
import { neighbours } from "./groups/neighbours.ts";
import { oauth } from "./groups/oauth.ts";
import { portal } from "./groups/portal.ts";
import { scopes } from "./groups/scopes.ts";
import { secrets } from "./groups/secrets.ts";
import { ssrf } from "./groups/ssrf.ts";
import { type Report, runAttacks } from "./runner/run-attacks.ts";
import { type IssuingScene, openIssuingScene } from "./scene/issuing-scene.ts";
import { type Mode, startAttacked } from "./scene/start-system.ts";
import { openTrustingScene, type TrustingScene } from "./scene/trusting-scene.ts";

/** All tables of the suite, in the order in which they run. */
export const groups: readonly Group[] = [
  credentials,
  crossAccount,
  portal,
  scopes,
  ssrf,
  http,
  graphql,
  secrets,
  oauth,
  neighbours,
  limits,
];

interface Suite {
  readonly mode: Mode;
  /** Names of groups; all when absent. */
  readonly only?: readonly string[];
  /** Receives each group's report, and its duration including preparation. */
  readonly onReport: (report: Report, seconds: number) => void;
}

/** Runs the groups one after another. A system starts when the first group needs it, and ends with the last. */
export async function runSuite({ mode, only = [], onReport }: Suite): Promise<readonly Report[]> {
  await using opened = new AsyncDisposableStack();
  const start = (properties: Readonly<Record<string, string>>) => startAttacked(mode, opened, properties);
  let trusting: Promise<TrustingScene> | undefined;
  let issuing: Promise<IssuingScene> | undefined;
  const scenes = {
    trusting: () => (trusting ??= openTrustingScene(opened, start)),
    issuing: () => (issuing ??= openIssuingScene(opened, start)),
  };
  const reports: Report[] = [];
  for (const group of groups.filter(({ name }) => only.length === 0 || only.includes(name))) {
    const startedAt = performance.now();
    const report = await runAttacks(group.name, await group.rows(scenes), group.atOnce);
    onReport(report, (performance.now() - startedAt) / 1_000);
    reports.push(report);
  }
  return reports;
}
