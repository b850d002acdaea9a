import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { createOidcIssuer } from "@signalbox/testing";
import { type Clone, cloneRepository } from "./clone.ts";
import { commandsOf } from "./read-page.ts";
import { follow, newReader } from "./reader.ts";

const opened = new AsyncDisposableStack();
let clone: Clone;

before(async () => {
  clone = await cloneRepository();
  opened.defer(() => clone.remove());
});
after(() => opened.disposeAsync());

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
  const reader = await newReader(stack, clone);
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
  const reader = await newReader(stack, clone, { instead, own: { TOKEN: () => token } });
  await follow("docs/how-to/connect-your-identity-provider.md", reader);
  await follow("docs/how-to/suspend-an-account.md", reader);
});

test("a field, a route, an event, a property or a service: the tools do what the pages say", async () => {
  await using stack = new AsyncDisposableStack();
  const reader = await newReader(stack, clone);
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
  const reader = await newReader(stack, clone);
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
  const files = [import.meta.filename, join(import.meta.dirname, "tour.engines.test.ts")];
  const followed = (await Promise.all(files.map((file) => readFile(file, "utf8")))).join();
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
