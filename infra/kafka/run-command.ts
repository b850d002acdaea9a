import process from "node:process";

/**
 * Runs the command of a command line. A failure is one sentence and exit code 1; no command, null, prints the usage and
 * ends with 2.
 */
export async function runCommand(usage: string, command: (() => Promise<void>) | null): Promise<void> {
  if (command === null) {
    process.stderr.write(usage);
    process.exitCode = 2;
    return;
  }
  await command().catch((error: Error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  });
}

export const print = (line: string): boolean => process.stdout.write(`${line}\n`);
