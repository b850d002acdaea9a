import { accountRecipes } from "./account.ts";
import type { Recipes } from "./attempt.ts";
import { configurationRecipes } from "./configuration.ts";
import { deliveryRecipes } from "./delivery.ts";
import { imagesRecipes } from "./images.ts";
import { ingestRecipes } from "./ingest.ts";

/** How to make each write that leaves an entry. A write that is in no table fails the walk. */
export const recipes: Recipes = {
  ...accountRecipes,
  ...imagesRecipes,
  ...ingestRecipes,
  ...deliveryRecipes,
  ...configurationRecipes,
};
