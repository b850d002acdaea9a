import { createConfig, lintFromString } from "@redocly/openapi-core";

/** Lists the findings of the linter's recommended rules for an OpenAPI document, warnings included. */
export async function lintOpenApi(name: string, source: string): Promise<string[]> {
  const config = await createConfig({
    extends: ["recommended"],
    // `/images/deletions/{id}` beside `/images/{id}/content`: a literal segment has precedence over a parameter, and no
    // id of ours equals one. `else: { required }` names members of the schema around it, which the second rule overlooks.
    rules: { "no-ambiguous-paths": "off", "no-required-schema-properties-undefined": "off" },
  });
  const problems = await lintFromString({ source, absoluteRef: name, config });
  return problems.map(
    ({ ruleId, message, location }) => `${name}: ${ruleId}: ${message} (${location[0]?.pointer ?? "whole document"})`,
  );
}
