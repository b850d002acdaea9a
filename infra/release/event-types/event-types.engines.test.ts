import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { catalogue, eventType } from "@signalbox/contracts";
import { findProgram } from "../../engines/doctor.ts";
import { root } from "../../generate/repository.ts";
import { packEventTypes } from "../pack-release.ts";
import { type EventTypes, readEventTypes } from "./event-shapes.ts";

const run = promisify(execFile);
let folder: string;
let types: EventTypes;
/** Unpacks the archive of a release, as somebody who has downloaded it. */
before(async () => {
  types = await readEventTypes();
  folder = await mkdtemp(join(tmpdir(), "signalbox-event-types-"));
  const archive = await packEventTypes(folder);
  await run("tar", ["--extract", "--gzip", "--file", archive, "--directory", folder, "--strip-components", "1"]);
  const examples = Object.fromEntries(types.events.map(({ type, example }) => [type, example]));
  await writeFile(join(folder, "examples.json"), JSON.stringify(examples));
});
after(() => rm(folder, { recursive: true }));

async function write(path: string, text: string): Promise<string> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
  return join(folder, path);
}
const output = ({ stdout, stderr }: { stdout: string; stderr: string }) => assert.fail(`${stdout}${stderr}`);

test("there is a type for every event of the catalogue", () => {
  assert.deepEqual(types.events.map(({ type }) => type).sort(), catalogue.map(eventType).sort());
  assert.equal(new Set(types.objects.map(({ name }) => name)).size, types.objects.length, "each name once");
});

test("TypeScript takes every example as its type, but none with a wrong member", async () => {
  const examples = types.events.map(({ type, example }) => `  "${type}": ${JSON.stringify(example)},`);
  const file = await write(
    "typescript/check.ts",
    `import type { EventData } from "./events.ts";
export const examples: EventData = {\n${examples.join("\n")}\n};
// @ts-expect-error: a number is no id.
export const wrong: EventData["image.erased.v1"]["image_id"] = 7;
// @ts-expect-error: no event has this type.
export type Unknown = EventData["image.created.v9"];
`,
  );
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const compilerOptions = {
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    module: "nodenext",
    types: [],
  };
  const project = await write("typescript/tsconfig.json", JSON.stringify({ compilerOptions, files: [file] }));
  await run(process.execPath, [compiler, "--project", project]).catch(output);
});

test("every example fits its Python type", async () => {
  await findProgram("python3");
  const script = `
import json, sys, typing
sys.path.insert(0, sys.argv[1] + "/python")
import signalbox_events

def check(value, hint, place):
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.NotRequired:
        check(value, args[0], place)
    elif origin is typing.Literal:
        assert value in args, place
    elif origin is list:
        for item in value:
            check(item, args[0], place)
    elif origin is dict:
        for name, item in value.items():
            check(item, args[1], place + "." + name)
    elif typing.is_typeddict(hint):
        assert set(value) >= hint.__required_keys__, place
        hints = typing.get_type_hints(hint)
        for name, member in value.items():
            check(member, hints[name], place + "." + name)
    elif args:
        some = [one for one in args if one is not type(None)]
        assert value is not None or len(some) < len(args), place
        if value is not None:
            check(value, some[0], place)
    elif hint is not typing.Any:
        assert isinstance(value, (int, float) if hint is float else hint), place

examples = json.load(open(sys.argv[1] + "/examples.json"))
for type_, example in examples.items():
    check(example, signalbox_events.EVENTS[type_], type_)
try:
    check({"image_id": 7}, signalbox_events.EVENTS["image.erased.v1"], "wrong")
except AssertionError:
    print(len(examples))
`;
  const { stdout } = await run("python3", ["-c", script, folder]).catch(output);
  assert.equal(stdout.trim(), String(types.events.length));
});

test("every example decodes in Go without an unknown member", async () => {
  await findProgram("go");
  await write(
    "go/events_test.go",
    `package events

import ("bytes"; "encoding/json"; "os"; "testing")

func TestExamples(t *testing.T) {
	text, err := os.ReadFile("../examples.json")
	if err != nil { t.Fatal(err) }
	var examples map[string]json.RawMessage
	if err := json.Unmarshal(text, &examples); err != nil { t.Fatal(err) }
	for eventType, example := range examples {
		data := New(eventType)
		decoder := json.NewDecoder(bytes.NewReader(example))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(data); err != nil { t.Errorf("%s: %v", eventType, err) }
	}
	if New("image.created.v9") != nil { t.Error("an unknown type") }
	if json.Unmarshal([]byte(\`{"image_id": 7}\`), New("image.erased.v1")) == nil { t.Error("a number is no id") }
}
`,
  );
  await run("go", ["vet", "."], { cwd: join(folder, "go") }).catch(output);
  await run("go", ["test", "."], { cwd: join(folder, "go") }).catch(output);
});

test("Java records have the members of every example, without a compiler warning", async () => {
  await findProgram("javac");
  const lines = types.events.flatMap(({ type, example }) =>
    Object.keys(example as object).map((name) => `${type} ${name}`),
  );
  await write("members.txt", lines.join("\n"));
  const check = await write(
    "java/Check.java",
    `import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import signalbox.events.Events;

public final class Check {
  public static void main(String[] args) throws Exception {
    for (String line : Files.readAllLines(Path.of(args[0]))) {
      String[] parts = line.split(" ");
      var components = Events.BY_TYPE.get(parts[0]).getRecordComponents();
      boolean isThere = Arrays.stream(components).anyMatch(one -> one.getName().replaceAll("_$", "").equals(parts[1]));
      if (!isThere) throw new IllegalStateException(line);
    }
    System.out.println(Events.BY_TYPE.size());
  }
}
`,
  );
  const classes = join(folder, "classes");
  const sources = [join(folder, "java/signalbox/events/Events.java"), check];
  await run("javac", ["-Xlint:all", "-Werror", "-d", classes, ...sources]).catch(output);
  const { stdout } = await run("java", ["-cp", classes, "Check", join(folder, "members.txt")]).catch(output);
  assert.equal(stdout.trim(), String(types.events.length));
});
