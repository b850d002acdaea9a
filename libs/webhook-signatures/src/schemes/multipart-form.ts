/** More parts than any sender posts. */
const partsMax = 1_000;

/**
 * Reads the text members of a form of parts (RFC 7578), the files left out; null for any other media type and for a
 * malformed body. Of members with one name the last counts, as in the other kind of form.
 */
export function readMultipart(contentType: string, body: Uint8Array): Readonly<Record<string, string>> | null {
  const [, quoted, plain] =
    /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) return null;
  // One character a byte, so that no place is lost to the decoding of a file.
  const [, ...parts] = `\r\n${Buffer.from(body).toString("latin1")}`.split(`\r\n--${boundary}`);
  if (parts.length < 2 || parts.length > partsMax || !parts.pop()?.startsWith("--")) return null;
  const members: [string, string][] = [];
  for (const part of parts) {
    const at = part.indexOf("\r\n\r\n");
    if (!/^[ \t]*\r\n/.test(part) || at < 0) return null;
    const [, name] =
      /^content-disposition:\s*form-data\s*;(?:.*;)?\s*name="([^"\r\n]*)"/im.exec(part.slice(0, at)) ?? [];
    const isFile = /^content-disposition:.*;\s*filename/im.test(part.slice(0, at));
    if (name !== undefined && !isFile) members.push([utf8(name), utf8(part.slice(at + 4))]);
  }
  return Object.fromEntries(members);
}

const utf8 = (bytes: string): string => Buffer.from(bytes, "latin1").toString("utf8");
