import { join, resolve } from "node:path";

export const repositoryFolder = resolve(import.meta.dirname, "../..");
/** Programs of the engines and the data of running ones; ignored by git, safe to delete once `stop` has run. */
export const enginesFolder = join(repositoryFolder, ".engines");
/** Data, logs and addresses of the engines that are shared by every test of this clone. */
export const runFolder = join(enginesFolder, "run");
