import { type Attack, attack, control } from "../runner/attack.ts";
import { type RawAnswer, rawExchange, rawRequest } from "../runner/raw-exchange.ts";

/** The hidden request: its answer is 200, as no other answer of these tables is. */
const hidden = rawRequest("GET /docs/errors", ["Host: x"]);
const length = hidden.length;
const post = (headers: readonly string[], body: string) =>
  rawRequest("POST /api/account/api-keys", ["Host: x", ...headers], body);
const chunked = `0\r\n\r\n${hidden}`;

/** Requests of which two parsers see different ends. */
const framings: Readonly<Record<string, string>> = {
  "a length and chunks": post(["Content-Length: 5", "Transfer-Encoding: chunked"], chunked),
  "chunks and a length": post(["Transfer-Encoding: chunked", "Content-Length: 5"], chunked),
  "a length of nothing and chunks": post(["Content-Length: 0", "Transfer-Encoding: chunked"], chunked),
  "two lengths": post([`Content-Length: ${length}`, "Content-Length: 0"], hidden),
  "two lengths the other way": post(["Content-Length: 0", `Content-Length: ${length}`], hidden),
  "two equal lengths": post(["Content-Length: 0", "Content-Length: 0"], hidden),
  "a list of lengths": post([`Content-Length: 0, ${length}`], hidden),
  "a negative length": post(["Content-Length: -1"], hidden),
  "a length with a plus": post(["Content-Length: +0"], hidden),
  "a length in hexadecimal": post(["Content-Length: 0x0"], hidden),
  "a length with a space": post(["Content-Length: 0 0"], hidden),
  "a length beyond all numbers": post([`Content-Length: ${"9".repeat(40)}`], hidden),
  "an empty length": post(["Content-Length: "], hidden),
  "a space before the colon of the length": post(["Content-Length : 0"], hidden),
  "a tab before the colon of the encoding": post(["Transfer-Encoding\t: chunked"], chunked),
  "an encoding nobody knows": post(["Transfer-Encoding: xchunked"], chunked),
  "identity and a length": post(["Transfer-Encoding: identity", "Content-Length: 0"], hidden),
  "chunked before another encoding": post(["Transfer-Encoding: chunked, identity"], chunked),
  "two encodings": post(["Transfer-Encoding: chunked", "Transfer-Encoding: identity"], chunked),
  "chunked twice and a length": post(["Transfer-Encoding: chunked, chunked", "Content-Length: 5"], chunked),
  "an encoding in quotes": post(['Transfer-Encoding: "chunked"', "Content-Length: 5"], chunked),
  "an encoding behind a vertical tab": post(["Transfer-Encoding: \x0bchunked", "Content-Length: 5"], chunked),
  "an encoding behind U+0000": post(["Transfer-Encoding: \0chunked", "Content-Length: 5"], chunked),
  "a folded encoding": post(["Transfer-Encoding:", " chunked", "Content-Length: 5"], chunked),
  "a folded length": post(["Content-Length:", " 0"], hidden),
  "a header without a name": post([": x", "Content-Length: 0"], hidden),
  "a header without a colon": post(["Content-Length 0"], hidden),
  "a space before the first header": `POST /api/account/api-keys HTTP/1.1\r\n Host: x\r\nContent-Length: 0\r\n\r\n${hidden}`,
  "bare line feeds": `POST /api/account/api-keys HTTP/1.1\nHost: x\nContent-Length: 0\nTransfer-Encoding: chunked\n\n${chunked}`,
  "a bare carriage return in a header": post(["X: a\rTransfer-Encoding: chunked", "Content-Length: 5\rX: 1"], chunked),
  "a chunk of a negative size": post(["Transfer-Encoding: chunked"], `-1\r\n\r\n${hidden}`),
  "a chunk of a size in 0x": post(["Transfer-Encoding: chunked"], `0x0\r\n\r\n${hidden}`),
  "a chunk of a size beyond all numbers": post(["Transfer-Encoding: chunked"], `${"f".repeat(17)}0\r\n${hidden}`),
  "an upgrade to h2c with a hidden request": post(
    ["Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AAMAAABkAAQAAP__", "Content-Length: x"],
    hidden,
  ),
};

const isRepelled = ({ statuses, text }: RawAnswer) =>
  statuses.some((status) => status < 400) ? text.slice(0, 300) : null;
const answered = (...statuses: number[]): RawAnswer => ({
  statuses,
  text: statuses.map((status) => `HTTP/1.1 ${status}`).join("\r\n\r\n"),
});

/** Requests within requests: the hidden one must not be answered. */
export function smugglingRows(baseUrl: string): Attack[] {
  const inTurn = control<RawAnswer>({
    what: "two honest requests over one connection",
    attempt: () => rawExchange(baseUrl, post(["Content-Length: 0"], "") + hidden),
    judge: ({ statuses, text }) =>
      statuses.length === 2 && (statuses[0] ?? 0) >= 400 && statuses[1] === 200 ? null : text.slice(0, 300),
    planted: [answered(401), answered(400, 400), answered()],
  });
  return Object.entries(framings).map(([what, bytes]) =>
    attack<RawAnswer>({
      what: `a request hidden by ${what}`,
      must: "not be answered",
      repeat: `printf '%b' ${JSON.stringify(bytes)} | nc HOST PORT`,
      control: inTurn,
      attempt: () => rawExchange(baseUrl, bytes),
      judge: isRepelled,
      planted: [answered(401, 200), answered(200)],
    }),
  );
}

const get = (headers: readonly string[], target = "/docs/errors") =>
  rawRequest(`GET ${target}`, [...headers, "Connection: close"]);

/** Heads whose meaning a server must not guess. */
const heads: Readonly<Record<string, string>> = {
  "no Host": get([]),
  "two Hosts": get(["Host: a", "Host: b"]),
  "two equal Hosts": get(["Host: a", "Host: a"]),
  "a space in the target": get(["Host: x"], "/docs/errors x"),
  "a header with U+0000": get(["Host: x", "X-A: a\0b"]),
  "a header with a bare carriage return": get(["Host: x", "X-A: a\rb: c"]),
  "a header name with a space": get(["Host: x", "X A: b"]),
  "a space before a colon": get(["Host: x", "X-A : b"]),
  "the version 9.9": "GET /docs/errors HTTP/9.9\r\nHost: x\r\nConnection: close\r\n\r\n",
  "the preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "a method that is none": "G@T /docs/errors HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  "a target of a hundred kilobytes": get(["Host: x"], `/docs/errors?${"a".repeat(100_000)}`),
  "a header of a hundred kilobytes": get(["Host: x", `X-A: ${"a".repeat(100_000)}`]),
  "three thousand headers": get(["Host: x", ...Array.from({ length: 3_000 }, (_, at) => `X-${at}: ${"b".repeat(20)}`)]),
};

/** Malformed heads. */
export function malformedHeadRows(baseUrl: string): Attack[] {
  const wellFormed = control<RawAnswer>({
    what: "the same head, well formed",
    attempt: () => rawExchange(baseUrl, get(["Host: x"])),
    judge: ({ statuses, text }) => (statuses[0] === 200 ? null : text.slice(0, 300)),
    planted: [answered(404), answered()],
  });
  return Object.entries(heads).map(([what, bytes]) =>
    attack<RawAnswer>({
      what: `a head with ${what}`,
      must: "be refused",
      repeat: `printf '%b' ${JSON.stringify(bytes.slice(0, 500))} | nc HOST PORT`,
      control: wellFormed,
      attempt: () => rawExchange(baseUrl, bytes),
      judge: isRepelled,
      planted: [answered(200)],
    }),
  );
}
