import { AppError, type ErrorCode, KiB } from "@signalbox/core";
import type { z } from "zod";
import type { CompiledBody } from "../exchange/compile-body.ts";
import type { Exchange, Step } from "../exchange/exchange.ts";
import { bodyRefusal, type Judgement, judge, onePerField } from "../request/body-problems.ts";
import type { JsonBody } from "../request/json-body.ts";
import type { RawPlace } from "../request/json-scan.ts";
import { parseQuery, queryTextOf } from "../request/query.ts";
import { announcesBody, refuseAnnouncedSize } from "../request/read-body.ts";
import { isBadText } from "../request/text-flaws.ts";
import { styledCode } from "../responses/error-response.ts";
import type { BodyForm } from "../routes/route-spec.ts";
import { parseInSlices, readCharged, type Slice, sliceOf } from "./body-work.ts";

/** Refuses a body on a route that takes none, instead of ignoring it. */
export const refuseBody: Step = (exchange) => {
  if (!announcesBody(exchange.request)) return null;
  throw new AppError("invalid_request", "This operation takes no body.");
};

/** Largest size of everything around the file of a form: the other parts, boundaries, part headers. */
const framingBytesMax = 512 * KiB;

/** Reads the body as the route declares it, and no more of it than allowed. */
export const readDeclaredBody: Step = async (exchange) => {
  const body = exchange.route.body as CompiledBody;
  if (body.kind === "unread" && body.mediaTypes.length === 0) return null;
  refuseCoding(exchange);
  if (body.kind === "unread") {
    mediaTypeOf(exchange, body);
    return null;
  }
  if (body.kind === "raw") {
    if (body.mediaTypes.length > 0) mediaTypeOf(exchange, body);
    exchange.body = await readCharged(exchange, maxBytesOf(exchange, body), tooLargeCode(exchange));
    return null;
  }
  if (isLeftOut(exchange, body)) {
    exchange.body = await parseMembers(exchange, body, { value: {}, flaws: [] }, sliceOf(exchange, 0));
    return null;
  }
  const form = body.forms?.formOf(givenMediaType(exchange)?.type ?? null, exchange.headers) ?? null;
  const type = form?.anyMediaType ? null : mediaTypeOf(exchange, body);
  if (type === "multipart/form-data") {
    refuseAnnouncedSize(exchange.request, maxBytesOf(exchange, body), tooLargeCode(exchange), framingBytesMax);
    return null;
  }
  // A file may be far larger than any JSON that is parsed here.
  const maxBytes = body.kind === "multipart" ? exchange.edge.live.requestBytesMax : maxBytesOf(exchange, body);
  const content = await readCharged(exchange, maxBytes, tooLargeCode(exchange));
  const slice = sliceOf(exchange, content.length);
  const given = await contentOf(content, form, slice, form?.raw ?? body.raw);
  if (form === null) exchange.body = await parseMembers(exchange, body, given, slice);
  else exchange.body = await slice(() => parseForm(exchange, form, given));
  return null;
};

/** Parses the content as JSON, unless it is a form's bytes, or nothing. */
function contentOf(content: Buffer, form: BodyForm | null, slice: Slice, raw: RawPlace | null) {
  if (form?.anyMediaType && content.length === 0) return { value: undefined, flaws: [] };
  return form?.anyMediaType === "bytes" ? { value: content, flaws: [] } : parseInSlices(content, slice, raw);
}

/** Parses a body that came in another form. */
function parseForm(exchange: Exchange, form: BodyForm, { value, flaws }: JsonBody): unknown {
  const result = judge(form.schema, form.read ? form.read(value) : value);
  if (result.success && flaws.length === 0) return result.data;
  throw refusedBody(exchange, flaws, result);
}

/**
 * Returns true for a POST without a body whose members are all optional. A PATCH or PUT without a body is a mistake.
 */
const isLeftOut = ({ request }: Exchange, { mayBeLeftOut }: CompiledBody): boolean =>
  mayBeLeftOut && request.method === "POST" && !announcesBody(request);

async function parseMembers(
  exchange: Exchange,
  body: CompiledBody,
  { value, flaws }: JsonBody,
  slice: Slice,
): Promise<unknown> {
  const result = await judgeFor(exchange, body, value, slice);
  if (result.success && flaws.length === 0) return result.data;
  throw refusedBody(exchange, flaws, result);
}

const refusedBody = ({ request }: Exchange, flaws: JsonBody["flaws"], result: Judgement<unknown>) =>
  bodyRefusal(request.method ?? "", onePerField([...flaws, ...(result.success ? [] : result.details)]));

/** Judges a body; a failing one is judged once more with the caller's own schema, so that only refusals pay for it. */
async function judgeFor(
  { principal }: Exchange,
  { schema, forCaller, readOnly }: CompiledBody,
  value: unknown,
  slice: Slice,
) {
  const result = await slice(() => judge(schema as z.ZodType, value, readOnly));
  if (result.success || !forCaller || !principal) return result;
  const own = await forCaller(principal);
  return slice(() => judge(own, value, readOnly));
}

/**
 * Refuses content codings: decoding could turn a few bytes into gigabytes, and no client needs it for bodies of this
 * size.
 */
function refuseCoding(exchange: Exchange): void {
  const coding = exchange.headers["content-encoding"];
  if (coding === undefined || coding.toLowerCase() === "identity") return;
  throw new AppError("unsupported_media_type", "Send the body without Content-Encoding.");
}

function mediaTypeOf(exchange: Exchange, body: CompiledBody): string {
  if (exchange.headers["content-type"] === undefined && !announcesBody(exchange.request)) {
    throw new AppError("invalid_request", `A body is required, as ${body.mediaTypes.join(" or ")}.`);
  }
  const type = givenMediaType(exchange);
  if (!type || !body.mediaTypes.includes(type.type)) {
    throw new AppError("unsupported_media_type", `Send the body as ${body.mediaTypes.join(" or ")}.`);
  }
  if (type.charset !== null && type.charset !== "utf-8" && type.charset !== "utf8") {
    throw new AppError("unsupported_media_type", "JSON is sent in UTF-8.");
  }
  return type.type;
}

function givenMediaType({ headers: { "content-type": header } }: Exchange): MediaType | null {
  return header === undefined ? null : parseMediaType(header);
}

function maxBytesOf({ edge }: Exchange, { maxBytes }: CompiledBody): number {
  if (maxBytes === null) return edge.live.requestBytesMax;
  return typeof maxBytes === "number" ? maxBytes : maxBytes();
}

const tooLargeCode = ({ route }: Exchange): ErrorCode => styledCode("payload_too_large", 413, route.errors);

/** A parsed `Content-Type`. */
interface MediaType {
  /** Lower case, such as `application/json`. */
  readonly type: string;
  /** Lower case, without quotes; null when absent. */
  readonly charset: string | null;
}

const form = /^([\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+)[ \t]*(;.*)?$/;
const charsetForm = /;[ \t]*charset[ \t]*=[ \t]*(?:"([^"]*)"|([^\s;"]*))/i;

/** Parses a `Content-Type` header (RFC 9110 §8.3); null when it is malformed. */
function parseMediaType(header: string): MediaType | null {
  const match = form.exec(header.trim());
  if (!match) return null;
  const charset = charsetForm.exec(match[2] ?? "");
  return { type: (match[1] as string).toLowerCase(), charset: (charset?.[1] ?? charset?.[2])?.toLowerCase() ?? null };
}

/** Parses path parameters; values that do not fit cannot name a resource: 404. */
export const readParams: Step = (exchange) => {
  const { params, request } = exchange;
  // Only percent-encoding can carry invalid text.
  if (request.url?.includes("%") && Object.values(params as Record<string, string>).some(isBadText)) throw notFound();
  const schema = exchange.route.spec.params;
  if (!schema) return null;
  const result = schema.safeParse(params);
  if (!result.success) throw notFound();
  exchange.params = result.data;
  return null;
};

/** Parses query parameters, each declared and at most once. */
export const readQuery: Step = (exchange) => {
  const { query, ignoredQuery } = exchange.route.spec;
  exchange.query = parseQuery(queryTextOf(exchange.request.url ?? ""), query, ignoredQuery);
  return null;
};

const notFound = () => new AppError("not_found", "There is nothing here.");
