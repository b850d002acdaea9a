import { setImmediate as endOfTurn } from "node:timers/promises";

/**
 * Reads single things together: whatever is asked for in one turn of the event loop, by however many requests, goes to
 * the database as one read. Nobody joins a read that was sent already, so everybody sees what was committed before they
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
