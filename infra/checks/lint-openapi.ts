import { createConfig, lintFromString } from "@redocly/openapi-core";

/** What the linter's recommended rules have to say about an OpenAPI document, warnings included; nothing when all is well. */
export async function lintOpenApi(name: string, source: string): Promise<string[]> {
  const config = await createConfig({
    extends: ["recommended"],
    // `/images/deletions/{id}` beside `/images/{id}/content`: a literal segment goes before a parameter, and no id of ours is one.
    rules: { "no-ambiguous-paths": "off" },
  });
  const problems = await lintFromString({ source, absoluteRef: name, config });
  return problems.map(
    ({ ruleId, message, location }) => `${name}: ${ruleId}: ${message} (${location[0]?.pointer ?? "whole document"})`,
  );
}
