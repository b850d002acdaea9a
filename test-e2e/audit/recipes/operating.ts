import { eventually } from "@signalbox/testing";
import type { World } from "../world.ts";
import { type Prepare, type Recipes, recipesOf } from "./attempt.ts";

/** One message, with the version that an operator has seen of it. */
const message =
  (collection: string, bury: (world: World) => Promise<{ readonly id: string }>): Prepare =>
  async (world) => {
    const { send, administrator: by } = world;
    const { id } = await bury(world);
    const version = await eventually(async () => {
      let query = "";
      do {
        const { items, next_cursor } = (await send(by, `/api/v1/operations/${collection}${query}`)).json;
        const found = items.find((one: { id: string }) => one.id === id);
        if (found) return found.version as string;
        query = next_cursor ? `?cursor=${encodeURIComponent(next_cursor)}` : "";
      } while (query !== "");
      return null;
    });
    return { by, ids: { id }, headers: { "if-match": `"${version}"` } };
  };

const letter = message("dead-letters", async ({ stuck }) => (await stuck()).buryLetter());
const refused = message("dead-events", async ({ stuck }) => (await stuck()).refuseEvent());
const parked = message("parked", async ({ stuck }) => (await stuck()).parkTwo());
const withReason = { reason: "walked" };

/** Recipes of each audited action of an operator, and of the reads of bodies. */
export const operatingRecipes: Recipes = {
  ...recipesOf(letter, {
    "GET /api/v1/operations/dead-letters/{id}": null,
    "POST /api/v1/operations/dead-letters/{id}/replay": {},
    "POST /api/v1/operations/dead-letters/{id}/drop": withReason,
  }),
  ...recipesOf(refused, {
    "GET /api/v1/operations/dead-events/{id}": null,
    "POST /api/v1/operations/dead-events/{id}/replay": {},
    "POST /api/v1/operations/dead-events/{id}/drop": withReason,
  }),
  ...recipesOf(parked, {
    "GET /api/v1/operations/parked/{id}": null,
    "POST /api/v1/operations/parked/{id}/retry": {},
    "POST /api/v1/operations/parked/{id}/skip": withReason,
  }),
};
