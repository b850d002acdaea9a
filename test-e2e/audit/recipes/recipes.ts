import { accountRecipes, administrationRecipes } from "./account.ts";
import type { Recipes } from "./attempt.ts";
import { configurationRecipes } from "./configuration.ts";
import { deliveryRecipes } from "./delivery.ts";
import { imagesRecipes } from "./images.ts";
import { ingestRecipes } from "./ingest.ts";
import { operatingRecipes } from "./operating.ts";

/** Recipes of each audited write. A write that is missing here fails the walk. */
export const recipes: Recipes = {
  ...accountRecipes,
  ...administrationRecipes,
  ...imagesRecipes,
  ...ingestRecipes,
  ...deliveryRecipes,
  ...configurationRecipes,
  ...operatingRecipes,
};
