import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { eventually } from "@signalbox/testing";
import { createEndpointSecret, createSigningKey, deliveryHeaders } from "@signalbox/webhook-signatures";
import { type Command, javaWith, pythonWith, startSample } from "../consume-events/sample-programs.ts";
import { freePorts } from "../systems/start-nginx.ts";

const receiversFolder = join(import.meta.dirname, "receivers");
const run = promisify(execFile);
const page = new URL("../../docs/how-to/verify-deliveries.md", import.meta.url);

/** The example of Standard Webhooks, and variants that must be refused. */
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const time = "1614265330";
const right = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
const body = '{"test": 2432232314}';
const wrong = `v1,${"A".repeat(43)}=`;
const now = Number(time);
interface Case {
  readonly id?: string;
  readonly time?: string;
  readonly signature?: string;
  readonly body?: string;
  readonly now?: number;
  readonly genuine: boolean;
}
const cases: readonly Case[] = [
  { genuine: true },
  { signature: `${wrong} ${right}`, genuine: true },
  { signature: `v1a,xyz ${right}`, genuine: true },
  { now: now + 299, genuine: true },
  { now: now + 301, genuine: false },
  { now: now - 301, genuine: false },
  { signature: wrong, genuine: false },
  { signature: right.replace("v1,", "v2,"), genuine: false },
  { signature: right.slice(3), genuine: false },
  { signature: "", genuine: false },
  { signature: "v1,", genuine: false },
  { signature: "v1,\u00e9", genuine: false },
  { id: "msg_other", genuine: false },
  { time: "1614265331", genuine: false },
  { time: "soon", genuine: false },
  { time: "", genuine: false },
  { body: `${body} `, genuine: false },
];
const whole = cases.map((one) => ({ id, time, signature: right, body, now, ...one }));

const goMain = `
func main() {
	var cases []struct{ Id, Time, Signature, Body string; Now int64 }
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil { panic(err) }
	answers := []bool{}
	for _, one := range cases {
		headers := http.Header{}
		headers.Set("webhook-id", one.Id)
		headers.Set("webhook-timestamp", one.Time)
		headers.Set("webhook-signature", one.Signature)
		answers = append(answers, isGenuine("${secret}", headers, []byte(one.Body), time.Unix(one.Now, 0)))
	}
	json.NewEncoder(os.Stdout).Encode(answers)
}
`;
const headersOf = "{'webhook-id': c['id'], 'webhook-timestamp': c['time'], 'webhook-signature': c['signature']}";

/** Wraps the code of each language into a program that reads cases and prints its verdicts. */
const languages: readonly {
  readonly fence: string;
  readonly file: string;
  readonly command: readonly [string, ...string[]];
  readonly program: (code: string) => string;
}[] = [
  {
    fence: "ts",
    file: "verify.ts",
    command: [process.execPath],
    program: (code) => `${code}
import { text } from "node:stream/consumers";
const cases = JSON.parse(await text(process.stdin));
console.log(JSON.stringify(cases.map((c) => isGenuine("${secret}", ${headersOf}, Buffer.from(c.body), c.now * 1000))));
`,
  },
  {
    fence: "python",
    file: "verify.py",
    command: ["python3"],
    program: (code) => `${code}
import json, sys
print(json.dumps([is_genuine("${secret}", ${headersOf}, c["body"].encode(), c["now"]) for c in json.load(sys.stdin)]))
`,
  },
  {
    fence: "go",
    file: "verify.go",
    command: ["go", "run"],
    program: (code) => code.replace("import (", 'import (\n\t"encoding/json"\n\t"os"') + goMain,
  },
];

for (const { fence, file, command, program } of languages) {
  test(`the ${fence} of the page on verifying accepts the genuine example alone`, async () => {
    const [name, ...before] = command;
    const shown = (await readFile(page, "utf8")).matchAll(new RegExp(`\`\`\`${fence}\n([^]*?)\`\`\``, "g"));
    const code = [...shown].map(([, text = ""]) => text).find((text) => /is_?genuine/i.test(text));
    assert.ok(code, "the page shows it");
    const folder = await mkdtemp(join(tmpdir(), "verify-"));
    await writeFile(join(folder, file), program(code));
    const started = run(name, [...before, join(folder, file)], { cwd: folder });
    started.child.stdin?.end(JSON.stringify(whole));
    const { stdout } = await started;
    await rm(folder, { recursive: true });
    assert.deepEqual(
      JSON.parse(stdout),
      cases.map(({ genuine }) => genuine),
    );
  });
}

/** The receivers of the page that use a library of their language, with the command of each. */
const receivers: Readonly<Record<string, (t: TestContext) => Promise<Command>>> = {
  "receive.py": () => pythonWith(receiversFolder, "receive.py"),
  "receive.go": async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "receive-"));
    t.after(() => rm(folder, { recursive: true }));
    const program = join(folder, "receive");
    await run("go", ["build", "-o", program, "."], { cwd: receiversFolder });
    return [program];
  },
  "Receive.java": () => javaWith(receiversFolder, "Receive.java"),
};

let delivered = 0;
/** A delivery as Signalbox sends it now. */
function delivery() {
  const eventId = `evt_${++delivered}`;
  const event = { id: eventId, type: "parcel.sent", created_at: new Date().toISOString(), data: { parcel: delivered } };
  const content = JSON.stringify({ ...event, note: "Grüße", api_version: "v1", account_id: "acc_1" }, null, " \t");
  const timestampSeconds = Math.floor(Date.now() / 1000);
  // As while a rotation overlaps, and with v1a.
  const secrets = [createEndpointSecret(), secret];
  const privateKeys = [createSigningKey().privateKey];
  const signed = { eventId, eventType: event.type, deliveryId: "whd_1", timestampSeconds, body: content, secrets };
  const headers = { ...deliveryHeaders({ ...signed, privateKeys }), "content-type": "application/json" };
  return { content, headers, old: deliveryHeaders({ ...signed, timestampSeconds: timestampSeconds - 3600 }) };
}

for (const [file, prepare] of Object.entries(receivers)) {
  test(`${file} of the page accepts a genuine delivery alone`, async (t) => {
    const code = await readFile(join(receiversFolder, file), "utf8");
    assert.ok((await readFile(page, "utf8")).includes(code.trimEnd()), "it is on the page");
    const port = String((await freePorts(["http"])).get("http"));
    const receiver = startSample(await prepare(t), [secret, port]);
    const post = async (headers: Record<string, string>, content: string) =>
      (await fetch(`http://127.0.0.1:${port}/webhooks`, { method: "POST", headers, body: content })).status;
    try {
      await eventually(async () => {
        assert.ok(receiver.isRunning, receiver.output);
        assert.equal(await post({}, "{}"), 400);
      });
      const { content, headers, old } = delivery();
      assert.equal(await post(headers, content), 204, receiver.output);
      assert.equal(await post(headers, content.replace("parcel.sent", "parcel.lost")), 400);
      assert.equal(await post(headers, `${content} `), 400);
      assert.equal(await post({ ...headers, "webhook-id": "evt_other" }, content), 400);
      assert.equal(await post({ ...headers, "webhook-signature": wrong }, content), 400);
      assert.equal(await post({ ...headers, ...old }, content), 400);
      await eventually(() => assert.match(receiver.output, /parcel.sent/));
      assert.doesNotMatch(receiver.output, /parcel.lost/);
    } finally {
      receiver.kill();
    }
  });
}
