import { EngineAbsentError } from "./engine.ts";
import { engines } from "./engines.ts";
import { pillow } from "./pillow/pillow.ts";
import { schemathesis } from "./schemathesis/schemathesis.ts";

/**
 * Brings every engine, and what is fetched like one, to this machine. Reports everything that is absent, not the first only.
 * @throws EngineAbsentError with all the commands that install what is absent.
 */
export async function fetchEngines(report: (line: string) => void): Promise<void> {
  const absent: string[] = [];
  for (const engine of [...engines, schemathesis, pillow]) {
    try {
      report(`${engine.name.padEnd(12)} ${await engine.fetch()}`);
    } catch (error) {
      if (!(error instanceof EngineAbsentError)) throw error;
      absent.push(error.message);
    }
  }
  if (absent.length > 0) throw new EngineAbsentError(absent.join("\n"));
}
