import { withFileLock } from "./file-lock.ts";

/** Holds the lock until it is killed. */
await withFileLock(process.argv[2] as string, 1_000, async () => {
  console.log("locked");
  await new Promise((resolve) => setTimeout(resolve, 60_000));
});
