import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { after, before, test } from "node:test";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { environment } from "@signalbox/runtime";
import { createOidcIssuer, eventually } from "@signalbox/testing";
import { freePorts } from "../systems/start-nginx.ts";
import { type Clone, cloneRepository, openTerminal, type Terminal } from "./clone.ts";
import { commandsOf, missingIn } from "./read-page.ts";

const opened = new AsyncDisposableStack();
let clone: Clone;

before(async () => {
  clone = await cloneRepository();
  opened.defer(() => clone.remove());
});
after(() => opened.disposeAsync());

/** The state of a reader of several pages. */
interface Reader {
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

/** With the machine's own Node, as on a fresh clone, and on unused ports. */
async function newReader(
  t: AsyncDisposableStack,
  more: Partial<Pick<Reader, "instead" | "own">> = {},
): Promise<Reader> {
  const ports = await freePorts(["8080", "8081", "8088", "9000", "9001"]);
  const folder = clone.folder;
  const terminal = openTerminal({ cwd: folder, env: freshEnvironment(ports), timeoutMs: commandMs });
  const instead = new Map([...(more.instead ?? []), ...[...ports].map(([port, free]) => [port, `${free}`] as const)]);
  const reader: Reader = { terminal, server: null, instead, own: { ...own, ...more.own } };
  t.defer(() => terminal.close());
  t.defer(async () => void (await reader.server?.close()));
  return reader;
}

function freshEnvironment(ports: ReadonlyMap<string, number>): Record<string, string | undefined> {
  const { PATH = "", ...rest } = environment();
  const path = PATH.split(delimiter).filter((folder) => !folder.includes("node_modules"));
  const inherited = Object.entries(rest).filter(([name]) => !/^(npm_|NODE_|SIGNALBOX_)/i.test(name));
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
async function follow(page: string, reader: Reader): Promise<void> {
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
  const { instead } = reader;
  const ports = new Map(["8080", "8081"].map((port) => [port, Number(instead.get(port))]));
  const server = openTerminal({ cwd: clone.folder, env: freshEnvironment(ports), timeoutMs: commandMs });
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

/** In this order, because later pages may use what earlier ones leave. */
const ofCallers = [
  ...[
    "use-the-api",
    "call-from-a-browser",
    "query-the-graph",
    "upload-from-a-browser",
    "debug-deliveries",
    "find-out-why",
    "operate-by-api",
    "replay-after-an-outage",
  ],
  ...["receive-without-a-public-address", "use-the-command-line"],
  ...["let-people-sign-in", "create-a-service-client", "rotate-a-key", "find-leaked-keys"],
  ...["connect-a-sender", "migrate-a-secret", "read-and-replay", "act-as-a-hub"],
  ...["subscribe-and-resume", "rotate-the-sealing-key", "rotate-secrets", "consume-events", "verify-deliveries"],
  ...["show-responsive-images", "sign-image-urls", "put-a-cdn-in-front", "recover-failed-images", "size-image-memory"],
  ...["follow-the-stream", "roll-out-a-flag", "change-a-property", "back-up-and-restore"],
];

/** Pages without a command that could run here: each of theirs says which test runs it. */
const runElsewhere = ["embed-the-portal", "move-to-engines", "recover-missed-webhooks", "try-kafka", "use-the-console"];

test("the tour of the README, then what is done with the product that it started", async () => {
  await using stack = new AsyncDisposableStack();
  const reader = await newReader(stack);
  const { terminal } = reader;
  await terminal.run("node --version");
  assert.doesNotMatch(terminal.output, new RegExp(`^${process.version}$`, "m"), "the machine's own Node runs it");
  await follow("README.md", reader);
  for (const page of ofCallers) await follow(`docs/how-to/${page}.md`, reader);
});

test("an identity provider is connected, then an account of it suspended", async () => {
  await using stack = new AsyncDisposableStack();
  const issuer = await createOidcIssuer();
  stack.defer(() => issuer.close());
  const ada = { name: "Ada Lovelace", email: "ada@example.com", email_verified: true, locale: "de", zoneinfo: "UTC" };
  const token = issuer.sign({ sub: "ada", ...ada });
  const instead = new Map([["https://login.example.com", issuer.issuer]]);
  const reader = await newReader(stack, { instead, own: { TOKEN: () => token } });
  await follow("docs/how-to/connect-your-identity-provider.md", reader);
  await follow("docs/how-to/suspend-an-account.md", reader);
});

test("a field, a route, an event, a property or a service: the tools do what the pages say", async () => {
  await using stack = new AsyncDisposableStack();
  const reader = await newReader(stack);
  for (const what of ["field", "graph-field", "route", "event", "property", "service"]) {
    await follow(`docs/how-to/add-${what === "event" ? "an" : "a"}-${what}.md`, reader);
  }
  const migrations = await readdir(join(clone.folder, "services/images/prisma/migrations"));
  assert.ok(
    migrations.some((name) => name.endsWith("photographer")),
    migrations.join(),
  );
});

test("who runs the product follows the pages for it", async () => {
  await using stack = new AsyncDisposableStack();
  const reader = await newReader(stack);
  for (const page of ["deploy", "watch", "release", "upgrade"]) await follow(`docs/how-to/${page}.md`, reader);
});

test("a page that is not followed here has no command that could be", async () => {
  for (const page of runElsewhere.map((name) => `docs/how-to/${name}.md`)) {
    const blocks = commandsOf(page, await readFile(join(repositoryFolder, page), "utf8"));
    assert.deepEqual(
      blocks.filter(({ notRun }) => notRun === null).map(({ place }) => place),
      [],
    );
  }
});

test("every page for readers is followed, down to every script that one names", async () => {
  const followed = await readFile(import.meta.filename, "utf8");
  const all = await readdir(join(repositoryFolder, "docs/how-to"));
  const pages = all.filter((page) => page !== "README.md");
  const list = await readFile(join(repositoryFolder, "docs/how-to/README.md"), "utf8");
  const { scripts } = JSON.parse(await readFile(join(repositoryFolder, "package.json"), "utf8"));
  for (const page of pages) {
    const name = page.replace(/^add-an?-|\.md$/g, "");
    assert.ok(followed.includes(`${name}.md`) || followed.includes(`"${name}"`), `${page} is followed`);
    assert.ok(list.includes(`](${page})`), `${page} is in the list`);
  }
  for (const page of ["README.md", ...pages.map((name) => `docs/how-to/${name}`)]) {
    const text = await readFile(join(repositoryFolder, page), "utf8");
    const named = [...text.matchAll(/npm (?:run )?(start|test|(?<=run )\S+?)(?=[\s`])/g)].map(
      ([, script = ""]) => script,
    );
    assert.deepEqual(
      named.filter((script) => !(script in scripts)),
      [],
      page,
    );
  }
});
