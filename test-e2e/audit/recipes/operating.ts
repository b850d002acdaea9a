import { eventually } from "@signalbox/testing";
import type { Headers, World } from "../world.ts";
import type { Attempt, Recipe, Recipes } from "./attempt.ts";

const base = "/api/v1/operations";

interface Listed {
  readonly id: string;
  readonly version: string;
}

/** A request about one message, as an operator has seen it. */
const about =
  (
    collection: string,
    id: (world: World) => Promise<string>,
    make: (by: Headers, message: Listed) => Attempt,
  ): Recipe =>
  async (world) => {
    const { send, administrator } = world;
    const wanted = await id(world);
    const message = await eventually(async () => {
      const seen: Listed[] = [];
      let query = "";
      do {
        const page = (await send(administrator, `${base}/${collection}${query}`)).json;
        seen.push(...page.items);
        query = page.next_cursor ? `?cursor=${encodeURIComponent(page.next_cursor)}` : "";
      } while (query !== "");
      const found = seen.find((one) => one.id === wanted);
      if (!found) throw new Error(`${wanted} is not among ${seen.map(({ id }) => id)}`);
      return found;
    });
    return make(administrator, message);
  };

const read =
  (collection: string) =>
  (by: Headers, { id }: Listed): Attempt => ({ by, path: `${base}/${collection}/${id}`, request: {} });

const act =
  (collection: string, verb: string, body: object) =>
  (by: Headers, { id, version }: Listed): Attempt => ({
    by,
    path: `${base}/${collection}/${encodeURIComponent(id)}/${verb}`,
    request: { body, headers: { "if-match": `"${version}"` } },
  });

const letter = async ({ stuck }: World) => (await (await stuck()).buryLetter()).id;
const refused = async ({ stuck }: World) => (await (await stuck()).refuseEvent()).id;
const parked = async ({ stuck }: World) => (await (await stuck()).parkTwo()).id;
const withReason = { reason: "walked" };

/** Recipes of each audited action of an operator, and of the reads of bodies. */
export const operatingRecipes: Recipes = {
  [`GET ${base}/dead-letters/{id}`]: about("dead-letters", letter, read("dead-letters")),
  [`POST ${base}/dead-letters/{id}/replay`]: about("dead-letters", letter, act("dead-letters", "replay", {})),
  [`POST ${base}/dead-letters/{id}/drop`]: about("dead-letters", letter, act("dead-letters", "drop", withReason)),
  [`GET ${base}/dead-events/{id}`]: about("dead-events", refused, read("dead-events")),
  [`POST ${base}/dead-events/{id}/replay`]: about("dead-events", refused, act("dead-events", "replay", {})),
  [`POST ${base}/dead-events/{id}/drop`]: about("dead-events", refused, act("dead-events", "drop", withReason)),
  [`GET ${base}/parked/{id}`]: about("parked", parked, read("parked")),
  [`POST ${base}/parked/{id}/retry`]: about("parked", parked, act("parked", "retry", {})),
  [`POST ${base}/parked/{id}/skip`]: about("parked", parked, act("parked", "skip", withReason)),
};
