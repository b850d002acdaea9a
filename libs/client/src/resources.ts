import { ApiError } from "./answers.ts";
import type { Call, CallOptions, Send } from "./call.ts";
import { type Resources, requests } from "./generated/resources.ts";
import { type Page, Pages } from "./pages.ts";

const etags = new WeakMap<object, string>();

/** Returns the entity tag with which a resource was read, for `ifMatch`. */
export const etagOf = (resource: object): string | undefined => etags.get(resource);

/** Creates the methods of all resources from the table of requests. */
export function createResources(send: Send): Resources {
  const resources = Object.entries(requests).map(([resource, methods]) => {
    const entries = Object.entries(methods).map(([name, request]) => [name, methodOf(send, request)]);
    return [resource, Object.fromEntries(entries)];
  });
  return Object.fromEntries(resources) as Resources;
}

function methodOf(send: Send, request: string) {
  const [verb = "", path = "", flags = ""] = request.split(" ");
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const [takesBody, takesQuery, isKept, hasPages, isStream] = [..."bqipr"].map((flag) => flags.includes(flag));
  return (...given: unknown[]) => {
    const parts = Object.fromEntries(names.map((name, index) => [name, partOf(name, given[index])]));
    const rest = given.slice(names.length);
    const input = takesBody || takesQuery ? rest.shift() : undefined;
    const options = (rest[0] ?? {}) as CallOptions & { query?: object };
    const query = takesBody ? options.query : (input as object | undefined);
    const call = (more: object): Call => ({
      ...options,
      path: parts,
      query: { ...query, ...more },
      body: takesBody ? input : undefined,
      idempotencyKey: options.idempotencyKey ?? (isKept ? crypto.randomUUID() : undefined),
      isStream,
    });
    if (!hasPages) return answerTo(send, verb, path, call({}));
    return new Pages(
      (cursor) => answerTo(send, verb, path, call(cursor === undefined ? {} : { cursor })) as Promise<Page<unknown>>,
    );
  };
}

/** Checks a part of a path. An empty one and dots would be the path of another route. */
function partOf(name: string, value: unknown): string {
  if (typeof value === "string" && value !== "" && value !== "." && value !== "..") return value;
  throw new TypeError(`${name} must be an id, and was ${JSON.stringify(value) ?? "undefined"}.`);
}

/**
 * Returns the content of an answer, or the response where its body is bytes.
 * @throws ApiError when the request was refused
 */
export async function answerTo(send: Send, method: string, path: string, call: Call): Promise<unknown> {
  const { data, error, response } = await send(method, path, call);
  if (!response.ok) throw new ApiError(response, error);
  if (call.isStream) return response;
  const etag = response.headers.get("ETag");
  if (etag !== null && typeof data === "object" && data !== null) etags.set(data, etag);
  return data;
}
