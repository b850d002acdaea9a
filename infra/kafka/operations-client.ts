import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { type Client, createClient, type Page, type Pages } from "@signalbox/client";
import { environment } from "@signalbox/runtime";

/**
 * Opens the client of `OPERATIONS_URL` with `OPERATIONS_KEY`; by default that of `npm start` in this folder. A command needs
 * an administrator's key, and no access to any database.
 */
export async function openOperationsClient(): Promise<Client> {
  const { OPERATIONS_URL, OPERATIONS_KEY, SIGNALBOX_EMBEDDED_DATA_DIRECTORY: folder = ".signalbox" } = environment();
  const baseUrl = (OPERATIONS_URL ?? "http://127.0.0.1:8080").replace(/\/$/, "");
  const apiKey = OPERATIONS_KEY ?? (await readFile(join(folder, "first-key"), "utf8").catch(() => "")).trim();
  if (apiKey === "")
    throw new Error("set OPERATIONS_KEY to an API key with operations:read, and operations:write for changes");
  return createClient({
    baseUrl,
    credential: { apiKey },
    retry: { triesMax: 1 },
    fetch: async (request) => {
      const answer = await fetch(request).catch((cause: Error) => {
        throw new Error(`${baseUrl} does not answer: set OPERATIONS_URL to the address of the system`, { cause });
      });
      if (answer.headers.get("content-type")?.includes("json")) return answer;
      throw new Error(`${baseUrl} answered ${answer.status}: is it the address of the system?`);
    },
  });
}

interface Unavailable {
  readonly service: string;
  readonly message: string;
}

/** Reads a list whole, page by page, and reports the services that did not answer. */
export async function* itemsOf<Item>(list: Pages<Item>): AsyncGenerator<Item> {
  const told = new Set<string>();
  for await (const page of list.pages()) {
    // Absent for a list that one service has alone.
    const { unavailable = [] } = page as Page<Item> & { readonly unavailable?: readonly Unavailable[] };
    reportUnavailable(unavailable.filter(({ service }) => !told.has(service)));
    for (const { service } of unavailable) told.add(service);
    yield* page.items;
  }
}

export function reportUnavailable(unavailable: readonly Unavailable[]): void {
  for (const { service, message } of unavailable) {
    process.stderr.write(`${service}: ${message}\n`);
    process.exitCode = 3;
  }
}
