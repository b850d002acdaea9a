import { constants } from "node:http2";
import type { AddressInfo } from "node:net";
import { createServer, type TLSSocket } from "node:tls";

/** A complete HTTP/2 request, and every possible answer to it, including ones that a server must not send. */
export interface FrameStream {
  readonly id: number;
  readonly socket: TLSSocket;
  /** Sends a head with a status; `ends` when no body follows. Without a status, sends trailers. */
  head(status: string | null, headers?: readonly (readonly [string, string])[], ends?: boolean): void;
  data(body: string | Buffer, ends?: boolean): void;
  reset(code: number): void;
  goAway(lastStream: number, code: number): void;
  frame(type: number, flags: number, payload?: Buffer, id?: number): void;
}

interface FrameReceiver {
  readonly url: string;
  /** Every connection so far, oldest first. */
  readonly sockets: readonly TLSSocket[];
  close(): void;
}

interface FrameReceiverOptions {
  /** Certificate in PEM, for `localhost`. */
  readonly cert: string;
  readonly key: string;
  /** Authority of the required client certificates; absent when none are required. */
  readonly clientAuthority?: string;
  /** Maximum number of concurrent streams per connection. */
  readonly streamsMax?: number;
}

const { NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS } = constants;
const [typeData, typeHeaders, typeReset, typeSettings, typePing, typeGoAway] = [0, 1, 3, 4, 6, 7];
const [endStream, endHeaders, acknowledges] = [1, 4, 1];
const prefaceBytes = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".length;

/** Starts a server that sends single HTTP/2 frames, on `localhost`: a far end that no library would produce. */
export async function startFrameReceiver(
  { cert, key, clientAuthority, streamsMax = 100 }: FrameReceiverOptions,
  answer: (stream: FrameStream) => void,
): Promise<FrameReceiver> {
  const sockets: TLSSocket[] = [];
  const settings = Buffer.alloc(6);
  settings.writeUInt16BE(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
  settings.writeUInt32BE(streamsMax, 2);
  const client = clientAuthority === undefined ? {} : { requestCert: true, ca: clientAuthority };
  const server = createServer({ cert, key, ...client, ALPNProtocols: ["h2"] }, (socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.write(frameOf(typeSettings, 0, 0, settings));
    let held = Buffer.alloc(0);
    let isGreeted = false;
    socket.on("data", (chunk: Buffer) => {
      held = Buffer.concat([held, chunk]);
      if (!isGreeted && held.length < prefaceBytes) return;
      if (!isGreeted) held = held.subarray(prefaceBytes);
      isGreeted = true;
      const { frames, rest } = takeFrames(held);
      held = rest;
      for (const { type, flags, id, payload } of frames) {
        const isOurs = (type === typeSettings || type === typePing) && (flags & acknowledges) === 0;
        if (isOurs) socket.write(frameOf(type, acknowledges, 0, type === typePing ? payload : undefined));
        if ((type === typeHeaders || type === typeData) && flags & endStream) answer(streamOf(socket, id));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}/`,
    sockets,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function streamOf(socket: TLSSocket, own: number): FrameStream {
  const frame: FrameStream["frame"] = (type, flags, payload, id = own) =>
    void socket.write(frameOf(type, flags, id, payload));
  const numbers = (...values: readonly number[]) => {
    const payload = Buffer.alloc(4 * values.length);
    for (const [index, value] of values.entries()) payload.writeUInt32BE(value, 4 * index);
    return payload;
  };
  return {
    id: own,
    socket,
    frame,
    head: (status, headers = [], ends = false) =>
      frame(
        typeHeaders,
        endHeaders | (ends ? endStream : 0),
        headersOf([...(status === null ? [] : ([[":status", status]] as const)), ...headers]),
      ),
    data: (body, ends = false) => frame(typeData, ends ? endStream : 0, Buffer.from(body)),
    reset: (code) => frame(typeReset, 0, numbers(code)),
    goAway: (lastStream, code) => frame(typeGoAway, 0, numbers(lastStream, code), 0),
  };
}

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly id: number;
  readonly payload: Buffer;
}

const headBytes = 9;

/** Builds a frame (RFC 9113 §4.1). */
function frameOf(type: number, flags: number, id: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, payload]);
}

/** Splits the bytes into complete frames and the rest. */
function takeFrames(bytes: Buffer): { readonly frames: Frame[]; readonly rest: Buffer<ArrayBuffer> } {
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
