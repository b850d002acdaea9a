import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import type { Context } from "../context.ts";
import type { Input } from "../declare.ts";
import { Failure, UsageError } from "../failures.ts";
import { parseTime } from "../parse-time.ts";
import { readRequest } from "../verify/saved-request.ts";
import { type Step, verify } from "../verify/verify.ts";

interface VerifyOptions {
  readonly secret: readonly string[];
  readonly at: string | undefined;
  readonly tolerance: string | undefined;
}

/** Verifies a saved request against secrets, without a connection, and says which step fails. */
export async function run(context: Context, { args: [file = "-"], options }: Input<VerifyOptions>): Promise<void> {
  const { output, environment, nowMs } = context;
  const given = options.secret.length > 0 ? options.secret : [environment.SIGNALBOX_WEBHOOK_SECRET ?? ""];
  const secrets = (await Promise.all(given.map(secretOf))).filter((secret) => secret !== "");
  if (secrets.length === 0)
    throw new UsageError("Name the secret with --secret @file, or in SIGNALBOX_WEBHOOK_SECRET.");
  const at = options.at === undefined ? new Date(nowMs()) : parseTime("at", options.at, nowMs());
  const { tolerance = "300" } = options;
  if (!/^\d{1,9}$/.test(tolerance)) throw new UsageError("--tolerance must be a number of seconds.");
  const bytes = file === "-" ? await buffer(context.stdin) : await bytesOf(file);
  const steps = verify(readRequest(bytes), {
    secrets,
    atSeconds: at.getTime() / 1_000,
    toleranceSeconds: Number(tolerance),
  });
  const failed = steps.find(({ ok }) => !ok);
  const word = ({ ok }: Step) => (ok ? "ok" : "failed");
  output.table(
    null,
    steps.map((step) => [word(step), step.name, step.message]),
    (row, column) => (column > 0 ? null : steps[row]?.ok ? "green" : "red"),
  );
  output.document({ genuine: failed === undefined, steps });
  if (failed) throw new Failure(`Not genuine: ${failed.name}.`);
  output.line("Genuine.");
}

/** A secret in an argument is seen by other users of the machine: a file is better. */
const secretOf = async (given: string): Promise<string> =>
  given.startsWith("@") ? (await bytesOf(given.slice(1))).toString("utf8").trim() : given;

const bytesOf = (path: string): Promise<Buffer> =>
  readFile(path).catch(() => {
    throw new UsageError(`The file ${path} cannot be read.`);
  });
