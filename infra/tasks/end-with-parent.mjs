/**
 * Stops a script cleanly when the task that started it has ended, `kill -9` included: it has a process group of its
 * own, so nothing else would. Loaded with `--import`; processes started by the script inherit the option and ignore it.
 */
import { isMainThread } from "node:worker_threads";

const parent = Number(new URL(import.meta.url).searchParams.get("parent"));

if (isMainThread && process.ppid === parent) {
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, "SIGTERM");
  }, 500);
  watch.unref();
}
