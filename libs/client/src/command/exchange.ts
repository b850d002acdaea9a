import { exitCodes, Failure } from "./failures.ts";

/** No answer: the same request may succeed later. */
export class NoAnswer extends Failure {
  constructor(message: string, cause: unknown) {
    super(message, exitCodes.unavailable, { cause });
  }
}

/** Longest wait for the headers of an answer. Node itself gives up connecting after ten seconds. */
export const answerMsMax = 30_000;

/**
 * Sends a request. A redirect is an answer, so that no credential leaves. The signal of a Request is collected together with
 * it and then ends no stream, so a stream needs its caller's own. @throws NoAnswer that names the host
 */
export async function exchange(
  request: Request,
  timeoutMs = answerMsMax,
  stop: AbortSignal = request.signal,
): Promise<Response> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), timeoutMs);
  try {
    const signal = AbortSignal.any([stop, silence.signal]);
    return await globalThis.fetch(request, { redirect: "manual", signal });
  } catch (error) {
    const isLate = silence.signal.aborted || stop.reason?.name === "TimeoutError";
    if (stop.aborted && !isLate) throw error;
    const { host } = new URL(request.url);
    throw new NoAnswer(
      isLate ? `${host} did not answer in time.` : `${host} does not answer: ${reasonOf(error)}.`,
      error,
    );
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Sends a request and reads the whole answer. @throws Failure for what no API of ours answers: a redirect, a page of
 * something on the way, JSON that breaks off
 */
export async function exchangeJson(request: Request): Promise<Response> {
  const response = await exchange(request);
  const { status, statusText, headers, ok, body } = response;
  const { host } = new URL(request.url);
  const redirect = redirectOf(response);
  if (redirect !== null) throw new Failure(`${redirect} Is --url right?`);
  const type = headers.get("content-type") ?? "a body without a type";
  if (body === null || status === 204 || type.startsWith("text/event-stream")) return response;
  const text = await response.text().catch((error: unknown) => {
    throw new NoAnswer(`The answer of ${host} broke off: ${reasonOf(error)}.`, error);
  });
  if (ok && text !== "" && !isJson(text))
    throw new Failure(`${host} answered with ${type}, not valid JSON. Is it Signalbox, or a proxy in front of it?`);
  return new Response(text, { status, statusText, headers });
}

/** Describes a redirect, which is not followed, with its target; null for another answer. */
export function redirectOf({ status, headers, url }: Response): string | null {
  const location = headers.get("location");
  if (status < 300 || status >= 400 || location === null) return null;
  const target = URL.canParse(location, url) ? new URL(location, url).href : location;
  return `${new URL(url).host} redirects to ${target}, which is not followed.`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns the code or the sentence of a failed connection. */
export function reasonOf(error: unknown): string {
  const { cause = error } = error as Error;
  if (!(cause instanceof Error)) return String(error);
  return "code" in cause ? String(cause.code) : cause.message;
}
