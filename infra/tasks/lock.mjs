import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { withProgress } from "./progress.mjs";

/**
 * Runs `work` while no other process of this machine holds the same lock file. A lock of a dead process is taken over.
 * The set-up runs on the Node that is there, which may be too old for the lock of infra/engines/file-lock.ts.
 */
export async function withLock(file, work) {
  if (!take(file)) {
    await withProgress("Waiting for another command that sets up this folder", async () => {
      while (!take(file)) await sleep(100);
    });
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

function take(file) {
  const mine = `${file}.${process.pid}`;
  try {
    // A link, because it appears with its content: another process never reads a lock without an owner.
    writeFileSync(mine, String(process.pid));
    linkSync(mine, file);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    removeIfAbandoned(file, mine);
    return false;
  } finally {
    rmSync(mine, { force: true });
  }
}

function removeIfAbandoned(file, aside) {
  const owner = read(file);
  if (owner === "" || isAlive(Number(owner))) return;
  try {
    // Moved before the final check: another process may have taken the lock between the check above and here.
    renameSync(file, aside);
    if (read(aside) !== owner) linkSync(aside, file);
  } catch (error) {
    if (error.code !== "ENOENT" && error.code !== "EEXIST") throw error;
  }
}

function read(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
