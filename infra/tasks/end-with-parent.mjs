/**
 * Stops a script in order when the task that started it is gone, `kill -9` included: it has a process group of its own, so
 * nothing else would. Loaded with `--import`; whatever the script itself starts inherits the option and is left alone.
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
