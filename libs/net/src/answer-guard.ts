import type { Socket } from "node:net";
import type { ConnectionGuard } from "./carrier.ts";
import { type OutboundCode, OutboundError } from "./outbound-error.ts";

/** Largest size of all heads of one answer, interim ones included. Common servers stop at 8 to 32 KiB. */
export const headBytesMax = 64 * 1024;
export const headerCountMax = 100;
export const interimAnswersMax = 8;
/** A chunk of one byte takes six on the wire. A paused reader leaves some bytes unparsed. */
const wireBytesPerBodyByteMax = 8;
const wireBytesAhead = 256 * 1024;

const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const protocol = Buffer.from("HTTP/");
/** Bytes of the status line up to the status. */
const statusLineBytes = "HTTP/1.1 200".length;

type Push = (chunk: Buffer | null) => boolean;

/**
 * Filters bytes between a socket and the HTTP parser, which limits neither a reason phrase, nor the number of interim
 * answers, nor the framing of chunks. The parser gets a head when it is complete, and no interim answers at all (RFC
 * 9110 §15.2: a client may ignore them). A violated limit closes the connection.
 */
export class AnswerGuard implements ConnectionGuard {
  readonly #socket: Socket;
  readonly #forward: Push;
  #phase: "idle" | "head" | "body" = "idle";
  #head = new AnswerHead();
  /** Received parts of an incomplete head. */
  #held: Buffer[] = [];
  #headBytes = 0;
  #interimAnswers = 0;
  #wireBytes = 0;
  #bodyBytes = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#forward = socket.push.bind(socket);
    // Overrides `push`, because a stream in between would copy every body.
    socket.push = (chunk: Buffer | null) => (chunk === null ? this.#forward(null) : this.#take(chunk));
  }

  /** Marks the start of a request: bytes from now on are its answer. */
  expectAnswer(): void {
    this.#phase = "head";
    this.#head = new AnswerHead();
    this.#held = [];
    this.#headBytes = 0;
    this.#interimAnswers = 0;
  }

  /** Returns no problem: heads are checked before they are parsed. */
  problemOf(): null {
    return null;
  }

  /** Counts parsed bytes of the body. */
  countBody(bytes: number): void {
    this.#bodyBytes += bytes;
  }

  /** Marks the end of the answer. No bytes may come until the next request. */
  endAnswer(): void {
    this.#phase = "idle";
  }

  /** Takes a chunk; returns true when the socket may read on. */
  #take(chunk: Buffer): boolean {
    switch (this.#phase) {
      case "head":
        return this.#takeHead(chunk);
      case "body":
        return this.#takeBody(chunk);
      default:
        this.#socket.destroy(); // without an error: no request is at fault
        return true;
    }
  }

  #takeHead(chunk: Buffer): boolean {
    let start = 0;
    while (start < chunk.length) {
      const end = this.#head.read(chunk, start);
      this.#headBytes += (end ?? chunk.length) - start;
      const problem = this.#problem();
      if (problem) return this.#refuse(...problem);
      if (end === null) break;
      if (!this.#head.isInterim) return this.#forwardFinal(chunk, start);
      this.#interimAnswers++;
      this.#head = new AnswerHead();
      this.#held = [];
      start = end;
    }
    this.#held.push(chunk.subarray(start));
    return true;
  }

  #problem(): [OutboundCode, string] | null {
    const { isMalformed, headerCount, status } = this.#head;
    if (isMalformed) return ["malformed", "The response is not HTTP."];
    if (this.#headBytes > headBytesMax) return ["head-too-large", "The response headers are larger than 64 KiB."];
    if (headerCount > headerCountMax)
      return ["too-many-headers", `The response has more than ${headerCountMax} headers.`];
    if (status === 101) return ["upgrade", "The response switches protocols without being asked to."];
    if (this.#head.isInterim && this.#interimAnswers === interimAnswersMax) {
      return ["too-many-interim", `More than ${interimAnswersMax} interim answers came before the final one.`];
    }
    return null;
  }

  #forwardFinal(chunk: Buffer, start: number): boolean {
    const whole = [...this.#held, chunk.subarray(start)];
    this.#phase = "body";
    this.#held = [];
    this.#wireBytes = 0;
    this.#bodyBytes = 0;
    return this.#forward(whole.length === 1 ? (whole[0] as Buffer) : Buffer.concat(whole));
  }

  #takeBody(chunk: Buffer): boolean {
    this.#wireBytes += chunk.length;
    if (this.#wireBytes > wireBytesAhead + wireBytesPerBodyByteMax * this.#bodyBytes) {
      return this.#refuse("malformed", "The body of the answer is mostly chunk framing.");
    }
    return this.#forward(chunk);
  }

  #refuse(code: OutboundCode, message: string): true {
    const { remoteAddress } = this.#socket;
    this.#socket.destroy(new OutboundError("response", message, { code, during: "response", remoteAddress }));
    return true;
  }
}

/** Reads the lines of one head as they arrive: their number, the status, and the end. */
class AnswerHead {
  status = 0;
  headerCount = 0;
  isMalformed = false;
  #line = 0;
  #column = 0;
  #previous = 0;

  /** True for an interim answer, as soon as its status was read. */
  get isInterim(): boolean {
    return this.status >= 100 && this.status < 200;
  }

  /** Reads a chunk; returns the position after the head, or null while the head is incomplete. */
  read(chunk: Buffer, start: number): number | null {
    for (let at = start; at < chunk.length && !this.isMalformed; ) {
      const lineFeedAt = chunk.indexOf(lineFeed, at);
      const end = lineFeedAt === -1 ? chunk.length : lineFeedAt;
      if (this.#line === 0) this.#readStatusLine(chunk, at, end);
      this.#column += end - at;
      if (end > at) this.#previous = chunk[end - 1] as number;
      if (lineFeedAt === -1) return null;
      if (this.#endLine()) return lineFeedAt + 1;
      this.#previous = lineFeed;
      at = lineFeedAt + 1;
    }
    return null;
  }

  /** Ends a line; returns true for the empty line that ends the head. */
  #endLine(): boolean {
    // The parser refuses a bare line feed too; here it would hide the end of the head.
    if (this.#previous !== carriageReturn) this.isMalformed = true;
    const isEmpty = this.#column === 1;
    this.#column = 0;
    if (isEmpty) return this.#line > 0; // empty lines before an answer are skipped
    if (this.#line === 0 && this.status < 100) this.isMalformed = true;
    else if (this.#line > 0) this.headerCount++;
    this.#line++;
    return false;
  }

  /** Reads a status line such as `HTTP/1.1 200 `, with the digits of the status at 9 to 11. */
  #readStatusLine(chunk: Buffer, start: number, end: number): void {
    const first = start - this.#column;
    for (let at = start; at < Math.min(end, first + statusLineBytes); at++) {
      const column = at - first;
      const byte = chunk[at] as number;
      if (column === 0 && byte === carriageReturn) return; // an empty line before the answer
      if (column < protocol.length) {
        if (byte !== protocol[column]) this.isMalformed = true;
      } else if (column >= statusLineBytes - 3) {
        const digit = byte - 0x30;
        if (digit < 0 || digit > 9) this.isMalformed = true;
        else this.status = this.status * 10 + digit;
      }
    }
  }
}
