import type { Fetch } from "./retry-backoff.ts";

/*
 * A Request passes on the abort of its signal only while it is held, and `fetch` does not hold it: after a garbage
 * collection neither an abort nor a time limit would arrive. So the functions here refer to their request to the end.
 */

interface Deadline {
  readonly timeoutMs: number;
  /** True when the body may take as long as its reader wants: the time limit is that of the headers. */
  readonly isOfHeaders?: boolean | undefined;
}

/** Ends a try, its body included, when its time is over or its caller aborts. */
export const withDeadline =
  (send: Fetch, { timeoutMs, isOfHeaders = false }: Deadline): Fetch =>
  async (request) => {
    const ends = new AbortController();
    const limit = AbortSignal.timeout(timeoutMs);
    const onLimit = () => ends.abort(limit.reason);
    const onAbort = () => ends.abort(request.signal.reason);
    const release = () => {
      limit.removeEventListener("abort", onLimit);
      request.signal.removeEventListener("abort", onAbort);
    };
    limit.addEventListener("abort", onLimit);
    request.signal.addEventListener("abort", onAbort);
    if (request.signal.aborted) onAbort();
    const sent = new Request(request, { signal: ends.signal });
    try {
      const response = await send(sent);
      if (isOfHeaders) limit.removeEventListener("abort", onLimit);
      return abortable(response, sent, { onEnd: release });
    } catch (error) {
      release();
      throw error;
    }
  };

interface BodyTerms {
  /** Called after the last byte, after a failure, and when the reader gives up. */
  readonly onEnd?: () => void;
  /** Longest wait of a reader for the next bytes, and the error that ends it. Default: any time. */
  readonly silence?: { readonly msMax: number; readonly error: () => Error };
}

/** Statuses without a body (Fetch Standard, "null body status"). Chromium gives their responses an empty one. */
const withoutBody = [101, 103, 204, 205, 304];

/** Returns the response with a body that fails as soon as its request aborts. */
export function abortable(response: Response, request: Request, terms: BodyTerms = {}): Response {
  const { status, statusText, headers, url } = response;
  if (response.body === null || withoutBody.includes(status)) {
    terms.onEnd?.();
    return response;
  }
  const body = new ReadableStream(new AbortableBody(response, request, terms), { highWaterMark: 0 });
  return Object.defineProperty(new Response(body, { status, statusText, headers }), "url", { value: url });
}

/** The source of such a body. It holds the response, whose body `fetch` would cancel once it is collected. */
class AbortableBody {
  readonly #response: Response;
  readonly #request: Request;
  readonly #terms: BodyTerms;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #onAbort = (): void => {};

  constructor(response: Response, request: Request, terms: BodyTerms) {
    this.#response = response;
    this.#request = request;
    this.#terms = terms;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const { signal } = this.#request;
    this.#onAbort = () => this.#fail(controller, signal.reason);
    signal.addEventListener("abort", this.#onAbort);
    if (signal.aborted) this.#onAbort();
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const { silence } = this.#terms;
    const timer = silence && setTimeout(() => this.#fail(controller, silence.error()), silence.msMax);
    try {
      // The body is locked when it is first read: until then a response that nobody keeps ends its connection.
      this.#reader ??= this.#response.body?.getReader();
      const read = await this.#reader?.read();
      if (read?.value) return controller.enqueue(read.value);
      this.#end();
      controller.close();
    } catch (error) {
      this.#end();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async cancel(reason: unknown): Promise<void> {
    this.#end();
    await (this.#reader ?? this.#response.body)?.cancel(reason);
  }

  #fail(controller: ReadableStreamDefaultController<Uint8Array>, reason: unknown): void {
    controller.error(reason);
    void this.cancel(reason).catch(() => undefined);
  }

  #end(): void {
    this.#request.signal.removeEventListener("abort", this.#onAbort);
    this.#terms.onEnd?.();
  }
}
