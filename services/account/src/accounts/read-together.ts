import { setImmediate as endOfTurn } from "node:timers/promises";

/**
 * Batches reads of single rows: ids requested in one turn of the event loop, by any number of requests, go to the
 * database as one read. A request never joins a read that was already sent, so it sees everything committed before it
 * asked. Under load a round trip costs more than its rows.
 */
export function readTogether<Value extends { readonly id: string }>(
  readMany: (ids: readonly string[]) => Promise<readonly Value[]>,
): (id: string) => Promise<Value | null> {
  let gathering: { readonly ids: Set<string>; readonly found: Promise<ReadonlyMap<string, Value>> } | null = null;

  return async function read(id) {
    gathering ??= gather();
    gathering.ids.add(id);
    return (await gathering.found).get(id) ?? null;
  };

  function gather() {
    const ids = new Set<string>();
    return { ids, found: readAtEndOfTurn(ids) };
  }

  async function readAtEndOfTurn(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, Value>> {
    await endOfTurn();
    gathering = null;
    const values = await readMany([...ids]);
    return new Map(values.map((value) => [value.id, value]));
  }
}
