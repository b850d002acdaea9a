import { readFileSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";
import type { ReadStream } from "node:tty";
import type { ProcessRunner } from "@signalbox/runtime";

export type CreateFirstLink = (options?: {
  readonly onlyFirst?: boolean;
  readonly masked?: boolean;
}) => Promise<string | null>;

/** The option of `npm start --` that asks for a link. */
export const linkOption = "--link";

interface FirstLinkOffer {
  readonly create: CreateFirstLink;
  /** True when the person who starts the process asked for a link. */
  readonly isWanted: boolean;
  readonly runner: Pick<ProcessRunner, "defer">;
  readonly input: NodeJS.ReadableStream & Partial<Pick<ReadStream, "isTTY">>;
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/**
 * Prints a link that signs the first administrator in, and a new one for each line `link` of the input. Nobody has asked
 * for the first one, so it goes to a terminal only: any other output may be a log file that others read, and gets a line
 * that says how to ask.
 */
export async function offerFirstLinks({ create, isWanted, runner, input, output }: FirstLinkOffer): Promise<void> {
  const print = async (options?: { readonly onlyFirst: boolean }) => {
    const link = await create(options);
    if (link !== null) output.write(`\nSign in as the first administrator, once and within ten minutes:\n${link}\n`);
    else if (!options?.onlyFirst) output.write("\nThe built-in issuer is off (account.issuer.enabled).\n");
  };
  if (isWanted) await print();
  else if (output.isTTY) await print({ onlyFirst: true });
  else {
    const masked = await create({ onlyFirst: true, masked: true });
    if (masked !== null)
      output.write(
        `\nThe first administrator signs in by a link, ${masked}: start with \`npm start -- ${linkOption}\` to see it.\n`,
      );
  }
  if (input.isTTY && !isInForeground()) return;
  const lines = createInterface({ input });
  runner.defer("standard input", () => {
    lines.close();
    input.pause();
  });
  // After Ctrl-Z and `bg` it runs in the background.
  if (input.isTTY) process.on("SIGCONT", () => void (isInForeground() ? input.resume() : input.pause()));
  lines.on("line", (line) => {
    if (line.trim() === "link") print().catch(() => output.write("\nNo link could be made now; try again.\n"));
  });
}

/**
 * Returns true when this process may read its terminal: the system stops one in the background that does. Known on
 * Linux alone; elsewhere `--link` prints a link.
 */
function isInForeground(): boolean {
  try {
    // The name of the program, in brackets, may contain anything.
    const [, , group, , , foreground] = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return group !== undefined && group === foreground;
  } catch {
    return false;
  }
}
