import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "./eventually.ts";

export interface ReceivedRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values alternating, in the order and case sent. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly receivedAt: Date;
}

/** The answer to a request; without members, a plain 200 without a body. */
interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Uint8Array;
  /** Waits before the answer begins. */
  readonly delayMs?: number;
  /** Sends the body byte by byte with this pause. */
  readonly dripMs?: number;
  /**
   * `hang` never answers, `reset` resets the connection without an answer, `cut` resets it in the middle of the body.
   */
  readonly instead?: "hang" | "reset" | "cut";
}

type Script = Answer | ((request: ReceivedRequest, index: number) => Answer | Promise<Answer>);

export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** All requests whose body has arrived, oldest first. */
  readonly requests: readonly ReceivedRequest[];
  /** Sets the answers from now on. */
  answer(script: Script): void;
  /** Answers the next requests one by one, before `answer` applies again. */
  answerNext(...answers: Answer[]): void;
  /** Waits for a request, earlier ones included, that the predicate accepts. */
  waitFor(
    predicate: (request: ReceivedRequest) => boolean,
    options?: { timeoutMs?: number; message?: string },
  ): Promise<ReceivedRequest>;
  /** Forgets the requests so far. */
  clear(): void;
  close(): Promise<void>;
}

/**
 * A real HTTP server on 127.0.0.1 that records requests and answers as scripted: the far end of webhooks and fetches.
 */
export async function createReceiver(script: Script = {}): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const next: Answer[] = [];
  let current = script;
  const stopped = new AbortController();

  const server = createServer(async (request, response) => {
    try {
      const received = await record(request);
      const index = requests.push(received) - 1;
      const answer = next.shift() ?? (typeof current === "function" ? await current(received, index) : current);
      await send(response, answer, stopped.signal);
    } catch {
      // The sender disconnected, or the test closed the receiver: an answer would reach no reader.
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    answer: (answers) => {
      current = answers;
    },
    answerNext: (...answers) => next.push(...answers),
    waitFor: (predicate, options) =>
      eventually(() => requests.find(predicate) ?? null, { message: "the receiver gets the request", ...options }),
    clear: () => requests.splice(0),
    close: async () => {
      stopped.abort();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function record(request: IncomingMessage): Promise<ReceivedRequest> {
  const receivedAt = new Date();
  const { method = "", url: path = "", headers, rawHeaders } = request;
  return { method, path, headers, rawHeaders, body: await buffer(request), receivedAt };
}

async function send(response: ServerResponse, answer: Answer, stopped: AbortSignal): Promise<void> {
  const { status = 200, headers = {}, body = "", delayMs = 0, dripMs, instead } = answer;
  if (delayMs > 0) await sleep(delayMs, undefined, { signal: stopped });
  if (instead === "hang") return;
  if (instead === "reset") return void response.socket?.resetAndDestroy();
  const bytes = Buffer.from(body as Uint8Array);
  const promised = instead === "cut" ? bytes.length + 1 : bytes.length;
  response.writeHead(status, promised > 0 ? { "content-length": promised, ...headers } : headers);
  if (instead === "cut") return void response.write(bytes, () => response.destroy());
  if (dripMs === undefined) return void response.end(bytes);
  for (const byte of bytes) {
    if (response.destroyed) return;
    response.write(Buffer.of(byte));
    await sleep(dripMs, undefined, { signal: stopped });
  }
  response.end();
}
