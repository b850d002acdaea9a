import { endpointsFile } from "./endpoints.ts";
import { EngineAbsentError } from "./engine.ts";
import { engines } from "./engines.ts";
import { pillow } from "./pillow/pillow.ts";
import { schemathesis } from "./schemathesis/schemathesis.ts";
import { sharedEngineStates, startSharedEngines, stopSharedEngines } from "./shared-engines.ts";

const print = (line: string) => process.stdout.write(`${line}\n`);

/** Reports everything that is absent, not the first only: one message, all the commands. */
async function fetchAll(): Promise<void> {
  const absent: string[] = [];
  for (const engine of [...engines, schemathesis, pillow]) {
    try {
      print(`${engine.name.padEnd(12)} ${await engine.fetch()}`);
    } catch (error) {
      if (!(error instanceof EngineAbsentError)) throw error;
      absent.push(error.message);
    }
  }
  if (absent.length > 0) throw new EngineAbsentError(absent.join("\n"));
}

async function start(): Promise<void> {
  await startSharedEngines(print);
  print(`addresses are in ${endpointsFile}`);
}

async function status(): Promise<void> {
  for (const { name, state, endpoint } of await sharedEngineStates()) {
    print(
      [name.padEnd(9), state.padEnd(8), endpoint && `pid ${endpoint.pid}, port ${endpoint.port}`].join(" ").trimEnd(),
    );
  }
}

const commands: Record<string, () => Promise<void>> = {
  fetch: fetchAll,
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
