import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { root } from "@signalbox/infra/generate/repository.ts";
import { environment } from "@signalbox/runtime";
import { javaWith, pythonWith } from "../consume-events/sample-programs.ts";
import { createClient, expectStatus } from "../journey/client.ts";
import { type EmbeddedSystem, startEmbeddedIn } from "../systems/embedded-system.ts";

const execute = promisify(execFile);
const here = import.meta.dirname;
const opened = new AsyncDisposableStack();
let system: EmbeddedSystem;
let folder: string;
/** The archives of openapi-generator and of what its Java client needs. */
let archives: string;
let account: string;

before(async () => {
  system = await startEmbeddedIn(opened);
  folder = await mkdtemp(join(tmpdir(), "signalbox-generated-"));
  opened.defer(() => rm(folder, { recursive: true }));
  const read = createClient(system.baseUrl, system.apiKey);
  await writeFile(join(folder, "openapi.json"), expectStatus(await read("/openapi.json"), 200).bytes);
  account = expectStatus(await read("/api/account/"), 200).json.id;
  const [, , classPath = ""] = (await javaWith(here, "")).slice(1);
  archives = classPath.slice(0, -"/*".length);
});
after(() => opened.disposeAsync());

async function run(program: string, args: readonly string[], cwd = folder): Promise<string> {
  const variables = { SIGNALBOX_URL: system.baseUrl, SIGNALBOX_KEY: system.apiKey };
  const options = { cwd, env: { ...environment(), ...variables }, maxBuffer: 16 * 1024 ** 2 };
  const { stdout } = await execute(program, args, options).catch((error: { stdout?: string; stderr?: string }) =>
    assert.fail(`${program} ${args.join(" ")}\n${error.stdout}${error.stderr}`.slice(0, 4_000)),
  );
  return stdout.trim();
}

async function generator(...args: readonly string[]): Promise<string> {
  const jar = (await readdir(archives)).find((name) => name.startsWith("openapi-generator-cli-")) ?? "";
  return run("java", ["-XX:+UseSerialGC", "-jar", join(archives, jar), ...args]);
}

/** Generates a client in a folder named after its language, and puts our program beside it. */
async function generate(language: string, program: string, place: string, ...options: string[]): Promise<string> {
  const target = join(folder, language);
  await generator("generate", "-i", "openapi.json", "-g", language, "-o", target, ...options);
  await mkdir(join(target, place), { recursive: true });
  await cp(join(here, "programs", program), join(target, place, program));
  return target;
}

test("openapi-generator finds nothing wrong in the document", async () => {
  assert.match(await generator("validate", "-i", "openapi.json", "--recommend"), /No validation issues detected/);
});

const program = `
import { AccountApi, Configuration } from "./client/index.js";

const { SIGNALBOX_URL = "", SIGNALBOX_KEY = "" } = process.env;
const api = new AccountApi(new Configuration({ basePath: SIGNALBOX_URL, apiKey: SIGNALBOX_KEY }));
api.viewer().then(({ id }) => console.log(id));
`;

test("the TypeScript client compiles and reads an account", async () => {
  const names = "--additional-properties=modelPropertyNaming=original";
  const target = join(folder, "typescript-fetch", "client");
  await generator("generate", "-i", "openapi.json", "-g", "typescript-fetch", "-o", target, names);
  await writeFile(join(folder, "typescript-fetch", "read-account.ts"), program);
  const options = { target: "es2022", module: "nodenext", outDir: "compiled", rootDir: ".", skipLibCheck: true };
  const compilerOptions = {
    ...options,
    strict: false,
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
  };
  const project = join(folder, "typescript-fetch", "tsconfig.json");
  await writeFile(project, JSON.stringify({ compilerOptions, files: ["read-account.ts"] }));
  await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", project]);
  const compiled = join(folder, "typescript-fetch", "compiled/read-account.js");
  assert.equal(await run(process.execPath, [compiled]), account);
});

test("the Python client imports and reads an account", async () => {
  const target = await generate("python", "read_account.py", ".");
  const [python] = await pythonWith(here, "");
  assert.equal(await run(python, ["read_account.py"], target), account);
});

test("the Go client compiles and reads an account", async () => {
  const names = ["--git-host", "example.org", "--git-user-id", "signalbox", "--git-repo-id", "client"];
  const target = await generate("go", "read-account.go", "program", ...names);
  assert.equal(await run("go", ["run", "./program"], target), account);
});

test("the Java client compiles and reads an account", async () => {
  const target = await generate("java", "ReadAccount.java", "src/main/java");
  const sources = join(target, "src/main/java");
  const files = (await readdir(sources, { recursive: true })).filter((file) => file.endsWith(".java"));
  await writeFile(join(sources, "files.txt"), files.join("\n"));
  const libraries = (await readdir(archives)).filter((name) => !name.startsWith("openapi-generator-cli-"));
  const classPath = ["classes", ...libraries.map((name) => join(archives, name))].join(":");
  await run("javac", ["-nowarn", "-proc:none", "-d", "classes", "-cp", classPath, "@files.txt"], sources);
  assert.equal(await run("java", ["-cp", classPath, "ReadAccount"], sources), account);
});
