/** Reads a mail of one plain text part (RFC 5322, RFC 2045, RFC 2047), without the code that wrote it. */
export function readMail(raw: string) {
  const end = raw.indexOf("\r\n\r\n");
  const headers = new Map(
    raw
      .slice(0, end)
      .replace(/\r\n[ \t]+/g, " ")
      .split("\r\n")
      .map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const body = raw.slice(end + 4);
  return {
    headers,
    subject: decodeWords(headers.get("subject") ?? ""),
    text: decodeBody(body, headers.get("content-transfer-encoding") ?? "7bit").replaceAll("\r\n", "\n"),
  };
}

function decodeBody(body: string, encoding: string): string {
  if (encoding.toLowerCase() === "base64") return Buffer.from(body, "base64").toString();
  if (encoding.toLowerCase() !== "quoted-printable") return body;
  return decodeEscapes(body.replace(/=\r\n/g, ""));
}

/** Encoded words, such as `=?UTF-8?Q?best=C3=A4tigen?=`; white space between two of them does not count. */
function decodeWords(text: string): string {
  return text
    .replace(/\?=\s+=\?/g, "?==?")
    .replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, word: string) => {
      if (kind.toLowerCase() === "b") return Buffer.from(word, "base64").toString();
      return decodeEscapes(word.replaceAll("_", " "));
    });
}

function decodeEscapes(text: string): string {
  const binary = text.replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(binary, "latin1").toString();
}
