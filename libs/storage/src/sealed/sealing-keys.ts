interface SealingKey {
  readonly id: string;
  readonly bytes: Buffer;
}

const form = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/_-]{43}=?)$/;

/** Reads `<id>:<32 bytes in base64>` keys. The message of a refusal never shows key material. */
export function parseKeys(keys: readonly string[]): { writing: SealingKey; byId: ReadonlyMap<string, Buffer> } {
  const parsed = keys.map(parseKey);
  const [writing] = parsed;
  if (!writing) throw new Error("secrets.keys is empty: at least one key is needed to seal secrets");
  const byId = new Map(parsed.map(({ id, bytes }) => [id, bytes]));
  if (byId.size < parsed.length) throw new Error("secrets.keys uses one key id twice");
  return { writing, byId };
}

function parseKey(text: string, position: number): SealingKey {
  const [, id, encoded] = form.exec(text) ?? [];
  if (id === undefined || encoded === undefined) {
    throw new Error(`key ${position + 1} of secrets.keys is not of the form <id>:<32 bytes in base64>`);
  }
  return { id, bytes: Buffer.from(encoded, "base64") };
}
