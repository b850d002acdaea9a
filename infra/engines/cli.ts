import { describeMissing, examine, missingPackages, tableOf } from "./doctor.ts";
import { EngineAbsentError } from "./engine.ts";
import { endpointsFile } from "./engine-set.ts";
import { fetchEngines, sharedEngines } from "./engines.ts";
import { sharedEngineStates, startSharedEngines, stopSharedEngines } from "./shared-engines.ts";

const print = (line: string) => process.stdout.write(`${line}\n`);

/** `start` starts all of them, `start kafka` that one. */
async function start(): Promise<void> {
  const given = process.argv.slice(3);
  const all = sharedEngines.map(({ name }) => name);
  const unknown = given.find((one) => !all.some((name) => name === one));
  if (unknown !== undefined) throw new EngineAbsentError(`There is no engine ${unknown}, only ${all.join(", ")}.`);
  const names = all.filter((name) => given.includes(name));
  await startSharedEngines(print, names.length > 0 ? names : undefined);
  print(`addresses are in ${endpointsFile}`);
}

async function status(): Promise<void> {
  for (const { name, state, endpoint } of await sharedEngineStates()) {
    print(
      [name.padEnd(9), state.padEnd(8), endpoint && `pid ${endpoint.pid}, port ${endpoint.port}`].join(" ").trimEnd(),
    );
  }
}

/** `doctor` shows the whole table; `doctor --packages` only the names of Debian's packages that bring what is missing. */
async function doctor(): Promise<void> {
  const findings = await examine();
  if (process.argv[3] === "--packages") {
    print((await missingPackages(findings, "debian")).join(" "));
    return;
  }
  print(tableOf(findings));
  const missing = await describeMissing(findings);
  print(missing === "" ? "\nNothing is missing." : `\nInstall what is missing:\n${missing}`);
  if (missing !== "") process.exitCode = 1;
}

const commands: Record<string, () => Promise<void>> = {
  doctor,
  fetch: () => fetchEngines(print),
  start,
  stop: () => stopSharedEngines(print),
  status,
};

const command = commands[process.argv[2] ?? ""];
if (!command) {
  print(`usage: engines ${Object.keys(commands).join("|")}`);
  process.exitCode = 2;
} else {
  try {
    await command();
  } catch (error) {
    process.stderr.write(`${error instanceof EngineAbsentError ? error.message : (error as Error).stack}\n`);
    process.exitCode = 1;
  }
}
