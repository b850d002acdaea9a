/** A problem that the person at the keyboard can solve; its message says how. */
export class SetUpError extends Error {}

/** Errors of the system and of npm, with what a person can do about each. */
const known = [
  {
    pattern:
      /\b(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|ENOTCACHED)\b/,
    say: (code, output) => {
      const [, registry = "the npm registry"] = /request to (https?:\/\/[^/\s]+)/.exec(output) ?? [];
      return `Packages cannot be fetched: ${registry} does not answer (${code}). Check the network, or name a mirror: npm config set registry <url>`;
    },
  },
  {
    pattern: /\b(ENOSPC|EDQUOT)\b|No space left on device/,
    say: (_, __, folder) => `The disk of ${folder} is full. Free about 1 GB and run the command again.`,
  },
  {
    pattern: /\b(EACCES|EPERM|EROFS)\b/,
    say: (code, _, folder) =>
      `This user may not write to ${folder} (${code}). Change the owner of the folder, or clone into one of your own.`,
  },
];

/** Turns a failure of the set-up into the sentence that helps. What nobody foresaw keeps all that was said about it. */
export function explainFailure(error, folder) {
  if (error instanceof SetUpError) return error;
  const output = error.output ?? "";
  if (error.code === "ENOENT" && error.path === "npm")
    return new SetUpError("npm is not installed. It comes with Node: https://nodejs.org");
  if (error.code === undefined && error.output === undefined) return error;
  const text = `${error.code ?? ""} ${error.message}\n${output}`;
  for (const { pattern, say } of known) {
    const found = pattern.exec(text);
    if (found) return new SetUpError(say(found[1] ?? found[0], text, folder));
  }
  return new SetUpError(`${output.trim()}\n\nThe set-up failed: ${error.message}.`);
}
