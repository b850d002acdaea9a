import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { commands } from "../src/command/commands.ts";

import { createHome } from "./call.ts";
import { type Answer, openTestClient } from "./test-server.ts";

/** A call of every command that talks to a server. */
const calls: Readonly<Record<string, readonly string[]>> = {
  login: ["login"],
  logout: ["logout"],
  status: ["status"],
  switch: ["switch"],
  api: ["api", "images"],
  "api of pages": ["api", "images", "--paginate"],
  why: ["why", "whd_1"],
  listen: ["listen"],
  trigger: ["trigger", "order.created"],
  "trigger with data": ["trigger", "order.created", "--data", "{}"],
  "events tail": ["events", "tail", "--since", "1h", "--no-follow"],
  replay: ["replay", "--endpoint", "whe_1", "--since", "1h", "--yes", "--wait"],
  "replay of one": ["replay", "whd_1"],
  logs: ["logs"],
  "properties list": ["properties", "list"],
  "properties get": ["properties", "get", "limits.maxPageSize"],
  "properties set": ["properties", "set", "limits.maxPageSize", "50", "--reason", "r", "--yes"],
  "properties unset": ["properties", "unset", "limits.maxPageSize", "--reason", "r", "--yes"],
  "flags list": ["flags", "list"],
  "flags get": ["flags", "get", "checkout.new"],
  "flags set": ["flags", "set", "-", "--reason", "r", "--yes"],
  "flags roll-out": ["flags", "roll-out", "checkout.new", "10", "--reason", "r", "--yes"],
  "flags import": ["flags", "import", "-", "--owner", "o", "--reason", "r", "--yes"],
  retry: ["retry", "--endpoint", "whe_1", "--yes"],
};

const html = { "content-type": "text/html" };
const raw = (status: number, headers: Record<string, string>, text: string) => (response: ServerResponse) =>
  response.writeHead(status, headers).end(text);

/** Answers of what is no Signalbox: a captive portal, another program on the port, a proxy, a line that breaks. */
const rubbish: Readonly<Record<string, Answer>> = {
  "a page": raw(200, html, "<html>Please sign in to the network</html>"),
  "a page of an error": raw(500, html, "<html>oops</html>"),
  "a redirect": raw(302, { location: "https://portal.example/login" }, ""),
  nothing: raw(200, {}, ""),
  "a hung up line": null,
  "a body that breaks off": (response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
    response.write('{"items":[');
    setTimeout(() => response.destroy(), 20);
  },
  "damaged JSON": raw(200, { "content-type": "application/json" }, '{"items":[}'),
  null: { body: null },
  "a list": { body: [1] },
  "an empty object": { body: {} },
  "a graph of another form": { body: { data: { properties: 7, flags: [7], setFlag: null }, errors: [{}] } },
  "members of other types": {
    body: { items: 7, account_id: [], totals: "x", endpoints: 1, authorization_servers: [7] },
  },
  "an error of another form": { status: 418, body: { error: "teapot" } },
  "an error with members of other types": { status: 400, body: { error: { code: 5, message: {}, details: "x" } } },
};

for (const [kind, answer] of Object.entries(rubbish)) {
  test(`a server that answers ${kind} ends every command in a sentence`, async (t) => {
    const { baseUrl } = await openTestClient(t, () => answer);
    const { call } = await createHome(t);
    const environment = { SIGNALBOX_URL: baseUrl, SIGNALBOX_API_KEY: "sbx_dev_1" };
    await Promise.all(
      Object.entries(calls).map(async ([name, words]) => {
        const stop = AbortSignal.timeout(1_500);
        const { exitCode, stdout, stderr } = await call(words, { environment, stop, stdin: '{"key":"a"}' });
        assert.doesNotMatch(stdout + stderr, /^ +at |TypeError|SyntaxError|\bundefined\b/m, name);
        assert.ok(exitCode <= 5, name);
        if (exitCode !== 0) assert.match(stderr, /^signalbox: .+\n|Reconnecting/m, name);
        if (exitCode === 0 || name === "listen" || name === "logs") return;
        const told = await call([...words, "--json"], { environment, stop });
        assert.ok(JSON.parse(told.stderr.trim().split("\n").at(-1) ?? "").error.message, `${name}: ${told.stderr}`);
      }),
    );
  });
}

test("every command that talks to a server is among those calls", () => {
  const called = Object.values(calls).map((words) => words.join(" "));
  const silent = ["completion", "verify"];
  for (const { name } of commands)
    assert.ok(silent.includes(name) || called.some((words) => words === name || words.startsWith(`${name} `)), name);
});

test("a redirect is told with its target", async (t) => {
  const { baseUrl } = await openTestClient(t, () => rubbish["a redirect"] as Answer);
  const { call } = await createHome(t);
  const environment = { SIGNALBOX_URL: baseUrl, SIGNALBOX_API_KEY: "sbx_dev_1" };
  for (const words of [["status"], ["api", "/images"]])
    assert.match((await call(words, { environment })).stderr, /redirects to https:\/\/portal\.example\/login/);
});

test("a key with a character that no header carries is refused without showing it", async (t) => {
  const { call } = await createHome(t);
  const apiKey = "sbx_dev_1\u2019Hunter2";
  const { exitCode, stderr } = await call(["status"], { environment: { SIGNALBOX_API_KEY: apiKey } });
  assert.match(stderr, /^signalbox: The API key from SIGNALBOX_API_KEY contains an invalid character\./);
  assert.deepEqual([exitCode, stderr.includes("Hunter2")], [3, false]);
  assert.doesNotMatch((await call(["login", "--with-key"], { stdin: apiKey })).stderr, /Hunter2/);
});

test("a body goes with no GET", async (t) => {
  const { call, home } = await createHome(t);
  await writeFile(join(home, "body.json"), "{}");
  const { exitCode, stderr } = await call(["api", "GET", "/images", "--input", join(home, "body.json")]);
  assert.deepEqual([exitCode, stderr.startsWith("signalbox: --input is a body")], [2, true]);
});

test("a folder of settings that is a file ends in a sentence", async (t) => {
  const { call, home } = await createHome(t);
  await writeFile(join(home, "file"), "");
  const environment = { XDG_CONFIG_HOME: join(home, "file"), SIGNALBOX_URL: "http://127.0.0.1:1" };
  assert.match((await call(["status"], { environment })).stderr, /^signalbox: Not signed in/);
  assert.match((await call(["login"], { environment })).stderr, /^signalbox: 127\.0\.0\.1:1 does not answer/);
});

test("a damaged file of profiles matters only to a call that uses it", async (t) => {
  const { baseUrl } = await openTestClient(t, () => ({ body: [] }));
  const { call, profilePath } = await createHome(t);
  await mkdir(dirname(profilePath), { recursive: true });
  await writeFile(profilePath, "{", { mode: 0o644 });
  const apiKey = { SIGNALBOX_API_KEY: "sbx_dev_1" };
  assert.equal((await call(["api", "/images"], { environment: { ...apiKey, SIGNALBOX_URL: baseUrl } })).exitCode, 0);
  assert.equal((await call(["api", "/images", "--url", baseUrl], { environment: apiKey })).exitCode, 0);
  assert.match((await call(["status"])).stderr, /Other users may read/);
});
