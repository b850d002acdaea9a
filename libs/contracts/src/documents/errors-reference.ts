import { detailCodes, type ErrorCode, errorCodes } from "@signalbox/core";
import { detailCatalogue } from "../errors/detail-catalogue.ts";
import { errorCatalogue } from "../errors/error-catalogue.ts";

/** Builds the text of `docs/reference/errors.md`: the body, then every code with its meaning and remedy. */
export function errorsReference(statusOf: Readonly<Record<ErrorCode, number>>): string {
  const errorRows = errorCodes.map(
    (code) => `- ${anchored(code)} (${statusOf[code]}): ${explained(errorCatalogue[code])}`,
  );
  const detailRows = detailCodes.map((code) => `- ${anchored(code)}: ${explained(detailCatalogue[code])}`);
  return `# Error codes

Generated from \`libs/contracts\`. Every error has the same body, from every service and from the edge:

\`\`\`json
{
  "error": {
    "code": "validation_error",
    "message": "A member of the body is not valid.",
    "field": "display_name",
    "request_id": "…",
    "details": [{ "field": "display_name", "code": "invalid", "message": "The name must have 1–100 characters." }],
    "doc_url": "https://api.example.com/docs/errors#validation_error"
  }
}
\`\`\`

Branch on \`code\`: it is never renamed. \`message\` is for people and may change. Quote \`request_id\` when you report a problem.
\`details\` lists every failing field once, with its first fault, up to a hundred fields. \`field\` is the first of them.
\`doc_url\` is an absolute URL of this page, which every deployment serves at \`/docs/errors\`; \`http.error-docs\` sets another page.
nginx refuses some requests itself and gives only the path, because it does not know the address of the deployment.

GraphQL has its own codes for request errors ([GraphQL](graphql.md)). Field failures in a payload have the codes of \`details\`.

## Codes

${errorRows.join("\n")}

## Codes in \`details\`

${detailRows.join("\n")}
`;
}

const anchored = (code: string): string => `<a id="${code}"></a>\`${code}\``;
const explained = ({ meaning, remedy }: { meaning: string; remedy: string }) => `${meaning} ${remedy}`;
