import process from "node:process";

/** Returns the milliseconds of processor time that this thread has used: a wait for the processor does not count. */
export function threadProcessorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
