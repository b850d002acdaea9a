import assert from "node:assert/strict";
import { detailCodes } from "@signalbox/core";
import type { Answer } from "../journey/client.ts";

/** CONTRACT §2, the table of codes. */
const codes: Readonly<Record<number, readonly string[]>> = {
  400: ["invalid_request"],
  401: ["unauthorized"],
  403: ["forbidden"],
  404: ["not_found"],
  405: ["method_not_allowed"],
  406: ["not_acceptable"],
  409: ["conflict"],
  413: ["payload_too_large", "image_too_large"],
  414: ["invalid_request"],
  415: ["unsupported_media_type"],
  422: ["validation_error"],
  431: ["invalid_request"],
};
/** Readers of mail links are people, who get a page. */
const pages = ["/api/account/contact-links/"];
const withCorrelation = ["/api/v1/config", "/api/v2/settings", "/api/v1/env", "/api/v1/status"];

/** Expects a refusal of a client error in the one common shape. `what` names the request in the failure. */
export function expectRefusal(answer: Answer, what: string, path: string): void {
  const shown = `${what}: ${answer.status} ${answer.bytes.toString("utf8").slice(0, 500)}`;
  const type = answer.headers.get("content-type") ?? "";
  const isPage =
    answer.status === 404 && pages.some((prefix) => path.startsWith(prefix)) && type.startsWith("text/html");
  const json = isOfRegistry(path) ? /^application\/(vnd\.schemaregistry\.v1\+)?json/ : /^application\/json/;
  if (!isPage) assert.match(type, json, shown);
  assert.equal(answer.headers.get("x-content-type-options"), "nosniff", shown);
  assert.equal(answer.headers.get("x-powered-by"), null, shown);
  assert.ok(answer.headers.get("x-request-id"), shown);
  if (isPage) return;
  if (path === "/graphql") expectGraphqlErrors(answer, shown);
  else if (path.startsWith("/ofrep/") && answer.json?.errorCode !== undefined) expectOfrepError(answer, shown);
  else if (isOfRegistry(path) && answer.json?.error_code !== undefined) expectRegistryError(answer, shown);
  else expectError(answer, shown, path);
}

/** Routes of the schema registry: its clients have parameters and a form of errors of their own. */
export const isOfRegistry = (path: string): boolean => /^\/(subjects|schemas\/(ids|guids|types))(\/|$)/.test(path);

function expectRegistryError({ status, json }: Answer, shown: string): void {
  assert.equal(status, 404, shown);
  assert.ok([40_401, 40_402, 40_403].includes(json.error_code), shown);
}

/** OFREP 0.3 has its own form of errors. */
function expectOfrepError({ status, json }: Answer, shown: string): void {
  const codesOf: Readonly<Record<number, readonly string[]>> = {
    400: ["PARSE_ERROR", "INVALID_CONTEXT", "TARGETING_KEY_MISSING"],
    404: ["FLAG_NOT_FOUND"],
  };
  assert.ok(codesOf[status]?.includes(json.errorCode), shown);
}

function expectError({ status, headers, json: { error } }: Answer, shown: string, path: string): void {
  assert.ok(status >= 400 && status < 500, shown);
  assert.ok(codes[status]?.includes(error.code), shown);
  assert.equal(typeof error.message, "string", shown);
  assert.equal(error.request_id, headers.get("x-request-id"), shown);
  if (withCorrelation.some((prefix) => path.startsWith(prefix))) {
    assert.equal(error.correlationId, error.request_id, shown);
  }
  if (status === 405) assert.ok(headers.get("allow"), shown);
  assert.match(error.doc_url, new RegExp(`^http://[^/]+/docs/errors#${error.code}$`), shown);
  expectDetails(error.details ?? [], shown);
}

interface Detail {
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

/** Beginnings of library messages that were not written for clients. */
const foreignSentence = /^(Invalid|Too (big|small)|Unrecognized|Expected)\b/;

function expectDetails(details: readonly Detail[], shown: string): void {
  assert.equal(new Set(details.map(({ field }) => field)).size, details.length, `each field once: ${shown}`);
  for (const { code, message } of details) {
    assert.ok((detailCodes as readonly string[]).includes(code), shown);
    assert.doesNotMatch(message, foreignSentence, shown);
  }
}

/** Expects an answer of the graph without a server fault: each error has a code that gives the reason. */
export function expectNoFault({ status, json, bytes }: Answer, what: string): void {
  const shown = `${what}: ${status} ${bytes.toString("utf8").slice(0, 300)}`;
  assert.ok(status === 200 || status === 400, shown);
  for (const { extensions } of json.errors ?? []) assert.match(extensions?.code ?? "", graphCode, shown);
  for (const payload of Object.values<{ errors?: Detail[] } | null>(json.data ?? {})) {
    expectDetails(payload?.errors ?? [], shown);
  }
}

const graphCode = /^(?!INTERNAL)[A-Z_]+$/;

/** GraphQL answers in its own shape (CONTRACT §8), and under `application/json` with 200 even for errors. */
function expectGraphqlErrors({ status, json: { data, errors } }: Answer, shown: string): void {
  assert.ok(status === 200 || (status >= 400 && status < 500), shown);
  assert.equal(data, undefined, shown);
  assert.ok(errors.length > 0, shown);
  for (const { extensions } of errors) assert.match(extensions?.code ?? "", graphCode, shown);
}
