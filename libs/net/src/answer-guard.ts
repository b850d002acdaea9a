import type { Socket } from "node:net";
import type { ConnectionGuard } from "./carrier.ts";
import { type OutboundCode, OutboundError } from "./outbound-error.ts";

/** Over all heads of one answer, those below 200 too. Common servers stop at 8 to 32 KiB. */
export const headBytesMax = 64 * 1024;
export const headerCountMax = 100;
export const interimAnswersMax = 8;
/** A chunk of one byte costs six on the wire, and a paused reader leaves some that nobody has parsed yet. */
const wireBytesPerBodyByteMax = 8;
const wireBytesAhead = 256 * 1024;

const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const protocol = Buffer.from("HTTP/");
/** Up to the status. */
const statusLineBytes = "HTTP/1.1 200".length;

type Push = (chunk: Buffer | null) => boolean;

/**
 * Stands between a socket and the HTTP parser, which bounds neither a reason phrase, nor the number of answers below 200,
 * nor what frames the chunks of a body. The parser gets the head of an answer when it is whole; answers below 200 it never
 * gets (RFC 9110 §15.2: a client may ignore them). Whatever breaks a bound ends the connection.
 */
export class AnswerGuard implements ConnectionGuard {
  readonly #socket: Socket;
  readonly #forward: Push;
  #phase: "idle" | "head" | "body" = "idle";
  #head = new AnswerHead();
  /** Parts of the head of one answer. */
  #held: Buffer[] = [];
  #headBytes = 0;
  #interimAnswers = 0;
  #wireBytes = 0;
  #bodyBytes = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#forward = socket.push.bind(socket);
    // A stream between the two would copy every body.
    socket.push = (chunk: Buffer | null) => (chunk === null ? this.#forward(null) : this.#take(chunk));
  }

  /** A request is about to leave: from now on bytes are its answer. */
  expectAnswer(): void {
    this.#phase = "head";
    this.#head = new AnswerHead();
    this.#held = [];
    this.#headBytes = 0;
    this.#interimAnswers = 0;
  }

  /** Heads are judged before they are parsed. */
  problemOf(): null {
    return null;
  }

  /** So much of the body was parsed. */
  countBody(bytes: number): void {
    this.#bodyBytes += bytes;
  }

  /** The answer is over: until the next request nothing may come. */
  endAnswer(): void {
    this.#phase = "idle";
  }

  /** Answers whether the socket may go on reading. */
  #take(chunk: Buffer): boolean {
    switch (this.#phase) {
      case "head":
        return this.#takeHead(chunk);
      case "body":
        return this.#takeBody(chunk);
      default:
        this.#socket.destroy(); // without an error: no request is to blame
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
    if (isMalformed) return ["malformed", "The answer is no HTTP."];
    if (this.#headBytes > headBytesMax) return ["head-too-large", "The head of the answer is larger than 64 KiB."];
    if (headerCount > headerCountMax)
      return ["too-many-headers", `The answer has more than ${headerCountMax} headers.`];
    if (status === 101) return ["upgrade", "The answer changes the protocol, which nobody asked for."];
    if (this.#head.isInterim && this.#interimAnswers === interimAnswersMax) {
      return ["too-many-interim", `More than ${interimAnswersMax} answers below 200 came before the answer.`];
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
      return this.#refuse("malformed", "The body of the answer is hardly more than the framing of its chunks.");
    }
    return this.#forward(chunk);
  }

  #refuse(code: OutboundCode, message: string): true {
    const { remoteAddress } = this.#socket;
    this.#socket.destroy(new OutboundError("response", message, { code, during: "response", remoteAddress }));
    return true;
  }
}

/** Reads the lines of one head as they come: how many, the status, and where the empty one is. */
class AnswerHead {
  status = 0;
  headerCount = 0;
  isMalformed = false;
  #line = 0;
  #column = 0;
  #previous = 0;

  /** An answer before the answer: known as soon as its status was read. */
  get isInterim(): boolean {
    return this.status >= 100 && this.status < 200;
  }

  /** Reads on. Answers where what follows the head begins, or null when it is not over. */
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

  /** Answers true for the empty line that ends the head. */
  #endLine(): boolean {
    // The parser refuses a bare line feed too; here it would hide where the head ends.
    if (this.#previous !== carriageReturn) this.isMalformed = true;
    const isEmpty = this.#column === 1;
    this.#column = 0;
    if (isEmpty) return this.#line > 0; // empty lines before an answer are passed over
    if (this.#line === 0 && this.status < 100) this.isMalformed = true;
    else if (this.#line > 0) this.headerCount++;
    this.#line++;
    return false;
  }

  /** `HTTP/1.1 200 `: the digits of the status are at 9 to 11. */
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
