import { execFileSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../../generate/repository.ts";

/** The parts of the long tier that passed at one commit. Another commit begins anew. */
export interface LongProgress {
  readonly commit: string;
  readonly passed: Readonly<Record<string, { readonly seconds: number }>>;
}

/** Holds the progress and the output of each part. */
export const longFolder = join(root, ".engines", "long");
const progressFile = join(longFolder, "progress.json");

/** Reads how far the long tier has come at this commit; a change that is not committed counts as another commit. */
export async function readLongProgress(): Promise<LongProgress> {
  const commit = currentCommit();
  try {
    const kept: LongProgress = JSON.parse(await readFile(progressFile, "utf8"));
    if (kept.commit === commit) return kept;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  return { commit, passed: {} };
}

export async function writeLongProgress(progress: LongProgress): Promise<void> {
  await mkdir(longFolder, { recursive: true });
  await writeFile(progressFile, JSON.stringify(progress, null, 2));
}

function currentCommit(): string {
  const git = (...argv: string[]) => execFileSync("git", argv, { cwd: root, encoding: "utf8" }).trim();
  const isChanged = git("status", "--porcelain") !== "";
  return git("rev-parse", "HEAD") + (isChanged ? " and changes" : "");
}
