/** Prints what Spectral's rules for OpenAPI call an error in the documents that are named: a line each. */
import { readFile } from "node:fs/promises";
import { argv, stdout } from "node:process";
import core from "@stoplight/spectral-core";
import parsers from "@stoplight/spectral-parsers";
import rulesets from "@stoplight/spectral-rulesets";

const error = 0;
const spectral = new core.Spectral();
spectral.setRuleset({ extends: [[rulesets.oas, "recommended"]] });
for (const file of argv.slice(2)) {
  const document = new core.Document(await readFile(file, "utf8"), parsers.Json, file);
  for (const { severity, code, path, message } of await spectral.run(document))
    if (severity === error) stdout.write(`${file} ${code} at ${path.join(".")}: ${message}\n`);
}
