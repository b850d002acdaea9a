import { createConfig, lintFromString } from "@redocly/openapi-core";

/** The rules of the recommended set that do not hold for us. */
const switchedOff = {
  // The specification writes these paths with a slash at the end; the form without it answers the same.
  "no-path-trailing-slash": "off",
  // The product is licensed by contract with each customer, so a document for all of them names no license.
  "info-license": "off",
} as const;

/** What the linter has to say about an OpenAPI document, warnings included; nothing when all is well. */
export async function lintOpenApi(name: string, source: string): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended"], rules: switchedOff });
  const problems = await lintFromString({ source, absoluteRef: name, config });
  return problems.map(
    ({ ruleId, message, location }) => `${name}: ${ruleId}: ${message} (${location[0]?.pointer ?? "whole document"})`,
  );
}
