import { abortable } from "../deadline.ts";
import { exitCodes, Failure } from "./failures.ts";

/** No answer: the same request may succeed later. */
export class NoAnswer extends Failure {
  constructor(message: string, cause: unknown) {
    super(message, exitCodes.unavailable, { cause });
  }
}

/** Longest wait for the headers of an answer, and for the next bytes of its body. Node gives up connecting after ten seconds. */
export const answerMsMax = 30_000;

/**
 * Sends a request. A redirect is an answer, so that no credential leaves. @throws NoAnswer that names the host, and from the
 * body when it stays silent
 */
export async function exchange(
  request: Request,
  timeoutMs = answerMsMax,
  stop: AbortSignal = request.signal,
): Promise<Response> {
  const { host } = new URL(request.url);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  const sent = new Request(request, { redirect: "manual", signal: AbortSignal.any([stop, late.signal]) });
  const seconds = Math.round(timeoutMs / 1_000);
  const silent = () =>
    new NoAnswer(`${host} sent nothing more for ${seconds} s.`, new Error(`silent for ${seconds} s`));
  try {
    return abortable(await globalThis.fetch(sent), sent, { silence: { msMax: timeoutMs, error: silent } });
  } catch (error) {
    const isLate = late.signal.aborted || stop.reason?.name === "TimeoutError";
    if (stop.aborted && !isLate) throw error;
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
    if (error instanceof NoAnswer) throw error;
    throw new NoAnswer(`The response from ${host} was cut off: ${reasonOf(error)}.`, error);
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
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.message;
}
