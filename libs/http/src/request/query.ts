import { AppError, type ErrorDetail } from "@signalbox/core";
import type { z } from "zod";
import { judge, onePerField } from "./body-problems.ts";
import { isBadText } from "./text-flaws.ts";

/** Names under which clients try to send credentials in URLs, where logs and histories keep them. */
const credentialNames = new Set([
  "access_token",
  "accesstoken",
  "api_key",
  "api-key",
  "apikey",
  "x-api-key",
  "authorization",
  "auth_token",
  "bearer",
  "token",
  "password",
  "client_secret",
]);

/** Returns the part of a request target after the question mark, or an empty text. */
export function queryTextOf(url: string): string {
  const at = url.indexOf("?");
  return at < 0 ? "" : url.slice(at + 1);
}

/**
 * Parses query parameters: each declared, at most once, well-formed percent-encoded UTF-8; those with an `ignored` name
 * are left out.
 * @throws AppError `invalid_request` listing every parameter that fails.
 */
export function parseQuery(
  text: string,
  schema: z.ZodObject | undefined,
  ignored?: RegExp | undefined,
): Record<string, unknown> {
  const values = text === "" ? {} : readPairs(text, schema, ignored);
  if (!schema) return values;
  const result = judge(schema, values);
  if (!result.success) throw queryRefusal(result.details);
  return result.data;
}

/**
 * Refuses a query with an undeclared credential parameter, so that the client learns of it and not of missing
 * credentials. @throws AppError `invalid_request`
 */
export function refuseCredentials(text: string, schema: z.ZodObject | undefined): void {
  const details: ErrorDetail[] = [];
  for (const pair of text.split("&")) {
    const name = decoded(pair.split("=", 1)[0] as string);
    if (name === null || !credentialNames.has(name.toLowerCase())) continue;
    if (!schema || !Object.hasOwn(schema.shape, name)) details.push(undeclared(name, schema));
  }
  if (details.length > 0)
    throw new AppError(
      "invalid_request",
      "Send credentials in a header. Credentials in a URL are written to logs: replace them.",
      {
        details,
      },
    );
}

function readPairs(text: string, schema: z.ZodObject | undefined, ignored: RegExp | undefined): Record<string, string> {
  const values: Record<string, string> = Object.create(null);
  const problems: ErrorDetail[] = [];
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    const at = pair.indexOf("=");
    const name = decoded(at < 0 ? pair : pair.slice(0, at));
    if (name !== null && ignored?.test(name)) continue;
    const value = decoded(at < 0 ? "" : pair.slice(at + 1));
    const problem = problemOf(name, value, values, schema);
    if (problem) problems.push(problem);
    else values[name as string] = value as string;
  }
  if (problems.length > 0) throw queryRefusal(onePerField(problems));
  return values;
}

function problemOf(
  name: string | null,
  value: string | null,
  seen: Record<string, string>,
  schema: z.ZodObject | undefined,
): ErrorDetail | null {
  if (name === null || isBadText(name))
    return { field: "", code: "invalid_text", message: "A parameter name is not valid UTF-8." };
  if (!schema || !Object.hasOwn(schema.shape, name)) return undeclared(name, schema);
  if (name in seen) return { field: name, code: "repeated", message: "Duplicate parameter." };
  if (value === null || isBadText(value)) return { field: name, code: "invalid_text", message: "Must be valid UTF-8." };
  return null;
}

function queryRefusal(details: readonly ErrorDetail[]): AppError {
  const absent = details.filter(({ code }) => code === "required").map(({ field }) => field);
  const message =
    absent.length > 0
      ? `A required query parameter is absent: ${absent.join(", ")}.`
      : "A query parameter is not valid.";
  return new AppError("invalid_request", message, { details });
}

function undeclared(name: string, schema: z.ZodObject | undefined): ErrorDetail {
  if (credentialNames.has(name.toLowerCase()))
    return { field: name, code: "credential_in_query", message: "Credentials are accepted in headers only." };
  const known = Object.keys(schema?.shape ?? {});
  return {
    field: name,
    code: "unknown_parameter",
    message: `Is not a parameter of this route. ${hintFor(name, known)}`,
  };
}

/** Names that other APIs have for our parameters, in small letters without separators. */
const usualGuesses: Readonly<Record<string, readonly string[]>> = {
  limit: ["pagesize", "perpage", "size", "first", "count", "top", "max", "maxresults", "pagelimit", "take"],
  cursor: [
    "page",
    "pagenumber",
    "offset",
    "skip",
    "start",
    "after",
    "startingafter",
    "pagetoken",
    "nextcursor",
    "next",
  ],
  search: ["q", "query", "filter", "text", "keyword"],
  created_after: ["from", "since", "startdate", "createdfrom", "createdsince", "mindate"],
  created_before: ["to", "until", "enddate", "createdto", "createduntil", "maxdate"],
  mime_type: ["type", "contenttype", "mediatype"],
  tag: ["tags", "label", "labels"],
  status: ["state"],
};

/** Says what to send instead of an unknown parameter: the name that was meant, or those that there are. */
function hintFor(name: string, known: readonly string[]): string {
  const plain = plainName(name);
  const meant = known.find((one) => plainName(one) === plain || usualGuesses[one]?.includes(plain));
  if (meant !== undefined) return `Use ${meant}.`;
  return known.length === 0 ? "It has none." : `They are: ${known.join(", ")}.`;
}

const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "");

/** Decodes `application/x-www-form-urlencoded`; null when it is not UTF-8. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.includes("+") ? text.replaceAll("+", " ") : text);
  } catch {
    return null;
  }
}
