import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { environment } from "@signalbox/runtime";

/** The address and the key of the system that a command talks to. */
interface System {
  readonly url: string;
  readonly apiKey: string;
}

const waitMs = 30_000;

/** The API of operators, for a command: it needs an address and an administrator's key, and no access to any database. */
export type OperationsClient = Awaited<ReturnType<typeof openOperationsClient>>;

interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor?: string;
  /** Absent for a list that one service has alone. */
  readonly unavailable?: readonly { readonly service: string; readonly message: string }[];
}

/** Opens the client of `OPERATIONS_URL` with `OPERATIONS_KEY`; by default that of `npm start` in this folder. */
export async function openOperationsClient() {
  const { url, apiKey } = await systemOf(environment());
  async function send<T>(method: string, path: string, more: RequestInit = {}): Promise<T> {
    const answer = await fetch(`${url}/api/v1/operations/${path}`, {
      ...more,
      method,
      headers: { "x-api-key": apiKey, ...more.headers },
      signal: AbortSignal.timeout(waitMs),
    }).catch((cause: Error) => {
      throw new Error(`${url} does not answer: set OPERATIONS_URL to the address of the system`, { cause });
    });
    const body = (await answer.json().catch(() => null)) as { readonly error?: { readonly message: string } } | null;
    if (answer.ok && body !== null) return body as T;
    throw new Error(body?.error?.message ?? `${url} answered ${answer.status}: is it the address of the system?`);
  }
  const get = <T>(path: string) => send<T>("GET", path);
  return {
    get,
    post: <T>(path: string, body: object, version?: string) =>
      send<T>("POST", path, {
        body: JSON.stringify(body),
        headers: { "content-type": "application/json", ...(version !== undefined && { "if-match": `"${version}"` }) },
      }),
    /** Reads a list whole, page by page, and reports the services that did not answer. */
    async *list<T>(path: string): AsyncGenerator<T> {
      const told = new Set<string>();
      let cursor: string | undefined;
      do {
        const parameters = `${path.includes("?") ? "&" : "?"}cursor=${encodeURIComponent(cursor ?? "")}`;
        const {
          items,
          next_cursor,
          unavailable = [],
        }: Page<T> = await get(cursor === undefined ? path : path + parameters);
        for (const { service, message } of unavailable) {
          if (!told.has(service)) process.stderr.write(`${service}: ${message}\n`);
          told.add(service);
        }
        yield* items;
        cursor = next_cursor;
      } while (cursor !== undefined);
      if (told.size > 0) process.exitCode = 3;
    },
  };
}

async function systemOf(variables: Readonly<Record<string, string | undefined>>): Promise<System> {
  const { OPERATIONS_URL: url = "http://127.0.0.1:8080", OPERATIONS_KEY: given } = variables;
  const folder = variables.SIGNALBOX_EMBEDDED_DATA_DIRECTORY ?? ".signalbox";
  const apiKey = given ?? (await readFile(join(folder, "first-key"), "utf8").catch(() => null))?.trim();
  if (apiKey) return { url: url.replace(/\/$/, ""), apiKey };
  throw new Error("set OPERATIONS_KEY to an API key with operations:read, and operations:write for changes");
}
