/** Builds `Content-Disposition` (RFC 6266): a plain name for old clients, the real one in UTF-8. */
export function disposition(kind: "inline" | "attachment", filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(filename).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
