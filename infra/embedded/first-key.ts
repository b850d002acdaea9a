import { join } from "node:path";
import { parseApiKey } from "@signalbox/auth";
import type { ServiceParts } from "@signalbox/runtime";
import { readWhole, writeDurably } from "../engines/durable-file.ts";

interface FirstKeyOptions {
  readonly dataDirectory: string;
  /** Of the account service, which knows every key. */
  readonly authorize: ServiceParts["authorizeManagement"];
  readonly create: () => Promise<string>;
}

export interface FirstKey {
  readonly apiKey: string;
  /** True when the kept key no longer works: revoked, expired, of another database, or of an account that may not act. */
  readonly replaced: boolean;
}

/** The administrator's key of this folder, made when there is none yet or the kept one no longer works. */
export async function keptFirstKey({ dataDirectory, authorize, create }: FirstKeyOptions): Promise<FirstKey> {
  const file = join(dataDirectory, "first-key");
  const kept = await readWhole(file, (text) => parseApiKey(text) !== null);
  // An outage says nothing about the key.
  const verdict = kept && (await authorize?.({ "x-api-key": kept }, "127.0.0.1").catch(() => undefined));
  if (kept && verdict !== "unauthorized" && verdict !== "forbidden") return { apiKey: kept, replaced: false };
  const apiKey = await create();
  await writeDurably(file, `${apiKey}\n`);
  return { apiKey, replaced: kept !== null };
}
