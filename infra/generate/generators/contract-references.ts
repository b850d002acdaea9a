import { asyncApiDocument, catalogue, eventJsonSchema, eventsReference, eventType } from "@signalbox/contracts";
import { type ErrorCode, errorCodes } from "@signalbox/core";
import { stringify } from "yaml";
import type { Generator } from "../generator.ts";

/** What a client can conclude from a code and what it may do. A new code without a line here does not compile. */
const meanings: Record<ErrorCode, string> = {
  invalid_request:
    "The request itself is malformed: its JSON, a query parameter, or a required part that is absent. Repair it.",
  unauthorized: "No credentials, or ones that are unknown, expired or revoked. Sign in and send it again.",
  forbidden:
    "The credentials are good and do not allow this. More scope, a fresh sign-in or another account state is needed.",
  not_found: "There is nothing here for this caller. What belongs to another account reads the same.",
  method_not_allowed: "The path exists without this method; `Allow` lists those it has.",
  not_acceptable: "No representation suits `Accept`.",
  request_timeout: "The body stopped moving, or did not arrive in time. Nothing was done. Send the request again.",
  conflict:
    "The state has moved on: a failed `If-Match`, a taken name, or an idempotency key still at work. Read again, then decide.",
  payload_too_large: "The body is larger than the published limit.",
  image_too_large: "The image is larger than the published limit, in bytes or in pixels.",
  unsupported_media_type: "The body's media type is not one this route reads.",
  validation_error: "Well-formed, with values that are not allowed; `details` names every failing field.",
  rate_limited: "Too many requests. Wait for `Retry-After`.",
  server_error: "Our fault. Send the request again, and name `request_id` when it persists.",
  bad_gateway: "The service behind the edge did not answer properly. Send the request again.",
  unavailable: "A part this request needs is away. Wait for `Retry-After`.",
  configuration_unavailable: "The configuration cannot be read at the moment. Keep the last one and try again.",
  timeout: "The service behind the edge did not answer in time. The request may have had its effect.",
};

/** The table of error codes for clients. */
export const errorReference: Generator = {
  name: "error reference",
  kind: "committed",
  folders: async () => [],
  generate: async () => {
    const { statusOf } = await import("@signalbox/http");
    const rows = errorCodes.map((code) => `| \`${code}\` | ${statusOf[code]} | ${meanings[code]} |`);
    return new Map([["docs/reference/errors.md", page(rows)]]);
  },
};

function page(rows: readonly string[]): string {
  return `# Error codes

Every error has the same body, from every service and from the edge:

\`\`\`json
{ "error": { "code": "validation_error", "message": "…", "field": "display_name", "request_id": "…", "details": [] } }
\`\`\`

Branch on \`code\`: it is never renamed. \`message\` is for people and may change. Quote \`request_id\` when you report a problem.

| code | status | what it means |
|---|---|---|
${rows.join("\n")}
`;
}

const schemaFolder = "docs/reference/schemas";

/** The catalogue for readers of the topics: a page, an AsyncAPI document and a JSON Schema for every event. */
export const eventReference: Generator = {
  name: "event reference",
  kind: "committed",
  folders: async () => [schemaFolder],
  generate: async () => {
    const schemas = catalogue.map((event): [string, string] => [
      `${schemaFolder}/${eventType(event)}.json`,
      `${JSON.stringify(eventJsonSchema(event), null, 2)}\n`,
    ]);
    return new Map([
      ["docs/reference/events.md", eventsReference()],
      // Long texts stay on their line, so that a change of one word is a change of one line.
      ["docs/reference/asyncapi.yaml", stringify(asyncApiDocument(), { lineWidth: 0, aliasDuplicateObjects: false })],
      ...schemas,
    ]);
  },
};
