/** A `Content-Type`, taken apart. */
export interface MediaType {
  /** Lower case, such as `application/json`. */
  readonly type: string;
  /** Lower case, without quotes; null when it is not there. */
  readonly charset: string | null;
}

const form = /^([\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+)[ \t]*(;.*)?$/;
const charsetForm = /;[ \t]*charset[ \t]*=[ \t]*(?:"([^"]*)"|([^\s;"]*))/i;

/** Reads a `Content-Type` header (RFC 9110 §8.3); null when it is not one. */
export function parseMediaType(header: string): MediaType | null {
  const match = form.exec(header.trim());
  if (!match) return null;
  const charset = charsetForm.exec(match[2] ?? "");
  return { type: (match[1] as string).toLowerCase(), charset: (charset?.[1] ?? charset?.[2])?.toLowerCase() ?? null };
}
