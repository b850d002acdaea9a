/** A malformed request body, with the media type that it claims. */
export interface RubbishBody {
  readonly what: string;
  readonly type: string | null;
  readonly bytes: Buffer;
}

const json = (what: string, text: string | Buffer): RubbishBody => ({
  what,
  type: "application/json",
  bytes: Buffer.from(text as string),
});

export const rubbishBodies: readonly RubbishBody[] = [
  json("nothing", ""),
  json("half an object", '{"name":'),
  json("a repeated member", '{"name":"a","name":"b"}'),
  json("bytes that are not UTF-8", Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0xfe, 0x22, 0x7d])),
  json("a byte order mark alone", Buffer.from([0xef, 0xbb, 0xbf])),
  json("deep nesting", `${"[".repeat(50_000)}${"]".repeat(50_000)}`),
  json("deep nesting of objects", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`),
  json("a number beyond all bounds", '{"name":1e999999}'),
  json("a number of ten thousand digits", `{"name":${"9".repeat(10_000)}}`),
  json("an array", "[]"),
  json("null", "null"),
  json("a text", '"text"'),
  json("a prototype", '{"__proto__":{"admin":true},"constructor":{"prototype":{}}}'),
  json("U+0000", '{"name":"a\\u0000b","display_name":"a\\u0000b","url":"\\u0000","query":"\\u0000"}'),
  json("half a surrogate pair", '{"name":"\\ud800","display_name":"\\ud800","url":"\\ud800","query":"\\ud800"}'),
  json("members of wrong types", '{"name":{},"url":[],"scopes":7,"event_types":"x","query":{},"source_url":[]}'),
  json("two megabytes", `{"name":"${"x".repeat(2 * 1024 * 1024)}"}`),
  { what: "a wrong charset", type: "application/json; charset=utf-16", bytes: Buffer.from("{}", "utf16le") },
  { what: "an unknown charset", type: "application/json; charset=klingon", bytes: Buffer.from("{}") },
  { what: "plain text", type: "text/plain", bytes: Buffer.from("{}") },
  { what: "XML", type: "application/xml", bytes: Buffer.from("<a/>") },
  { what: "a media type that is none", type: ";;;/", bytes: Buffer.from("{}") },
  { what: "a form without a boundary", type: "multipart/form-data", bytes: Buffer.from("--x\r\n\r\n") },
  { what: "a form that stops", type: "multipart/form-data; boundary=x", bytes: Buffer.from("--x\r\nContent-Disposi") },
  { what: "no media type", type: null, bytes: Buffer.from("{}") },
];

/** Values for every path parameter. */
export const rubbishSegments: readonly string[] = [
  "%00",
  "%ff",
  "..%2f..",
  "%E0%A4%A",
  "x".repeat(3_000),
  "%F0%9F%92%A9",
];

export const rubbishQueries: readonly string[] = [
  "?unknown=1",
  "?limit=1&limit=2",
  "?limit=-1",
  "?limit=1e999",
  "?cursor=rubbish",
  "?cursor=%00",
  "?%ff=%ff",
  `?q=${"x".repeat(5_000)}`,
];
