import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

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
