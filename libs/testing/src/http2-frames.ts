interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly id: number;
  readonly payload: Buffer;
}

const headBytes = 9;

/** Builds a frame (RFC 9113 §4.1). */
export function frameOf(type: number, flags: number, id: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, payload]);
}

/** Splits the bytes into complete frames and the rest. */
export function takeFrames(bytes: Buffer): { readonly frames: Frame[]; readonly rest: Buffer<ArrayBuffer> } {
  const frames: Frame[] = [];
  let rest = Buffer.from(bytes);
  while (rest.length >= headBytes) {
    const end = headBytes + rest.readUIntBE(0, 3);
    if (rest.length < end) break;
    const payload = rest.subarray(headBytes, end);
    frames.push({ type: rest.readUInt8(3), flags: rest.readUInt8(4), id: rest.readUInt32BE(5), payload });
    rest = rest.subarray(end);
  }
  return { frames, rest };
}

/** Builds a header block of literals without indexing (RFC 7541 §6.2.2). */
export function headersOf(headers: readonly (readonly [string, string])[]): Buffer {
  const text = (value: string) => [lengthOf(Buffer.byteLength(value, "latin1")), Buffer.from(value, "latin1")];
  return Buffer.concat(headers.flatMap(([name, value]) => [Buffer.of(0), ...text(name), ...text(value)]));
}

/** Encodes an integer with a prefix of seven bits (RFC 7541 §5.1). */
function lengthOf(length: number): Buffer {
  const prefix = 127;
  if (length < prefix) return Buffer.of(length);
  const bytes = [prefix];
  let left = length - prefix;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
  return Buffer.from([...bytes, left]);
}
