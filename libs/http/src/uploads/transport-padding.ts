import { Transform, type TransformCallback } from "node:stream";

/** A longer run of blanks is no padding. */
const paddingMax = 1_024;
const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09;

/** Drops the blanks that may follow a boundary (RFC 2046 §5.1.1), which the parser of forms takes for a header. */
export class TransportPadding extends Transform {
  readonly #delimiter: Buffer;
  /** Bytes that may belong to a delimiter. The first one needs no line before it. */
  #held = Buffer.from("\r\n");

  constructor(boundary: string) {
    super();
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const bytes = Buffer.concat([this.#held, chunk]);
    let [from, held] = [0, Math.max(0, bytes.length - this.#delimiter.length + 1)];
    for (let at = bytes.indexOf(this.#delimiter); at >= 0; at = bytes.indexOf(this.#delimiter, from)) {
      const end = at + this.#delimiter.length;
      let next = end;
      while (isBlank(bytes[next]) && next - end <= paddingMax) next++;
      if (next === bytes.length) {
        held = at;
        break;
      }
      this.push(bytes.subarray(from, end));
      from = bytes[next] === 0x0d ? next : end;
    }
    held = Math.max(from, held);
    this.push(bytes.subarray(from, held));
    this.#held = bytes.subarray(held);
    done();
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#held);
  }
}

/** Reads the boundary of a form. */
export function boundaryOf(contentType = ""): string {
  const [, quoted, plain = ""] = /;\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i.exec(contentType) ?? [];
  return quoted ?? plain;
}
