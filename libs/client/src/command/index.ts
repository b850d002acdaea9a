export { commands } from "./commands.ts";
export { type Command, commonOptions } from "./declare.ts";
export { exitCodes, exitMeanings } from "./failures.ts";
export { environmentRows, optionWords, usageOf } from "./help.ts";
