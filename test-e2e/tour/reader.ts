import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { environment } from "@signalbox/runtime";
import { eventually } from "@signalbox/testing";
import { freePorts } from "../systems/start-nginx.ts";
import type { Clone } from "./clone.ts";
import { commandsOf, missingIn } from "./read-page.ts";
import { openTerminal, type Shell, type Terminal } from "./terminal.ts";

/** The state of a reader of several pages. */
export interface Reader {
  readonly clone: Clone;
  readonly terminal: Terminal;
  /** The terminal of the server, once a page has started it. */
  server: Terminal | null;
  /** The test's ports and addresses, by those on the page. */
  readonly instead: ReadonlyMap<string, string>;
  /** The reader's values for `NAME=…` on a page, from earlier output. */
  readonly own: Readonly<Record<string, (reader: Reader) => string | undefined>>;
}

/** Time that one command may take on a busy machine: the first start creates a database server. */
const commandMs = 180_000;
/** Time after its command within which an output may appear: renditions and deliveries run after the answer. */
const shownMs = 30_000;

const last = (pattern: RegExp, text = ""): string | undefined => [...text.matchAll(pattern)].at(-1)?.[1];

const seen =
  (pattern: RegExp) =>
  ({ terminal }: Reader) =>
    last(pattern, terminal.output);

const own: Reader["own"] = {
  CODE: ({ server }) => last(/\b(\d{4} ?\d{4})\b/g, server?.output),
  ID: seen(/"client_id":"([^"]+)"/g),
  SECRET: seen(/"client_secret":"([^"]+)"/g),
  TOKEN: seen(/"access_token":"([^"]+)"/g),
  ACCOUNT: seen(/"id":"(acc_\w+)"/g),
};

interface ReaderOptions extends Partial<Pick<Reader, "instead" | "own">> {
  /** `bash` unless given. */
  readonly shell?: Shell;
}

/** Opens a terminal in a clone, with the machine's own Node, as a reader has it, and on unused ports. */
export async function newReader(t: AsyncDisposableStack, clone: Clone, more: ReaderOptions = {}): Promise<Reader> {
  const ports = await freePorts(["8080", "8081", "8088", "9000", "9001"]);
  const { shell = "bash" } = more;
  const terminal = openTerminal({ shell, cwd: clone.folder, env: freshEnvironment(ports), timeoutMs: commandMs });
  const instead = new Map([...(more.instead ?? []), ...[...ports].map(([port, free]) => [port, `${free}`] as const)]);
  const reader: Reader = { clone, terminal, server: null, instead, own: { ...own, ...more.own } };
  t.defer(() => terminal.close());
  t.defer(async () => void (await reader.server?.close()));
  return reader;
}

function freshEnvironment(ports: ReadonlyMap<string, number>): Record<string, string | undefined> {
  const { PATH = "", ...rest } = environment();
  const path = PATH.split(delimiter).filter((folder) => !folder.includes("node_modules"));
  const inherited = Object.entries(rest).filter(([name]) => !/^(npm_|NODE_(?!EXTRA_CA_CERTS)|SIGNALBOX_)/i.test(name));
  return {
    ...Object.fromEntries(inherited),
    PATH: path.join(delimiter),
    SIGNALBOX_HTTP_PORT: `${ports.get("8080")}`,
    SIGNALBOX_MANAGEMENT_SERVER_PORT: `${ports.get("8081")}`,
    SIGNALBOX_INTERNAL_PORT: "0",
    OPERATIONS_URL: `http://127.0.0.1:${ports.get("8080")}`,
  };
}

/** Runs the commands of a page in order, and compares their output with the page. */
export async function follow(page: string, reader: Reader): Promise<void> {
  const { terminal } = reader;
  const blocks = commandsOf(page, await readFile(join(repositoryFolder, page), "utf8"));
  assert.ok(blocks.length > 0, page);
  const untrue: string[] = [];
  for (const { place, script, shown, byHand, notRun } of blocks) {
    if (notRun !== null) continue;
    const commands = here(await filledIn(script, reader), reader);
    const from = terminal.output.length;
    if (byHand) await terminal.run(byHand);
    if (/^npm start\b/m.test(commands)) await start(commands, reader);
    else await terminal.run(commands);
    if (shown === null) continue;
    // A background process prints when it is ready.
    const missing = () => missingIn(terminal.output.slice(from), here(shown, reader));
    await eventually(() => missing() === null, { timeoutMs: shownMs }).catch(() => {
      untrue.push(`${place} shows ${missing()}\nand this came:\n${terminal.output.slice(from)}`);
    });
  }
  assert.equal(untrue.join("\n"), "");
}

const here = (text: string, { instead }: Reader): string =>
  [...instead].reduce((done, [theirs, ours]) => done.replaceAll(theirs, ours), text);

/** Runs in a separate terminal, where it continues. */
async function start(commands: string, reader: Reader): Promise<void> {
  await reader.server?.close();
  const { instead, clone } = reader;
  const ports = new Map(["8080", "8081"].map((port) => [port, Number(instead.get(port))]));
  const server = openTerminal({ shell: "bash", cwd: clone.folder, env: freshEnvironment(ports), timeoutMs: commandMs });
  reader.server = server;
  server.type(commands);
  await eventually(() => assert.match(server.output, /Ctrl-C stops it/), { timeoutMs: commandMs });
}

async function filledIn(script: string, reader: Reader): Promise<string> {
  let filled = script;
  for (const [assignment, name = ""] of script.matchAll(/\b([A-Z]+)=…/g)) {
    const find = reader.own[name] ?? assert.fail(`nobody knows ${name}`);
    filled = filled.replace(assignment, `${name}='${await eventually(() => find(reader) ?? null)}'`);
  }
  return filled;
}
