/** The fields of one protobuf message by number; a repeated field has several values, in order. */
export type Fields = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

/**
 * Reads the wire format (protobuf.dev, "Encoding") without a schema: numbers as unsigned 64 bits, everything with a length
 * as bytes. Throws a RangeError when the message ends too early.
 */
export function readFields(message: Buffer): Fields {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => {
    if (at + length > message.length) throw new RangeError(`a field of ${length} bytes ends after the message`);
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = Number(varint());
    const value = readValue(tag & 7, varint, take);
    const number = tag >> 3;
    fields.set(number, [...(fields.get(number) ?? []), value]);
  }
  return fields;
}

function readValue(wireType: number, varint: () => bigint, take: (length: number) => Buffer): bigint | Buffer {
  switch (wireType) {
    case 0:
      return varint();
    case 1:
      return take(8).readBigUInt64LE();
    case 2:
      return take(Number(varint()));
    case 5:
      return BigInt(take(4).readUInt32LE());
    default:
      throw new RangeError(`wire type ${wireType} is not used by OTLP`);
  }
}

export const messages = (fields: Fields, number: number): Fields[] => bytes(fields, number).map(readFields);

export const bytes = (fields: Fields, number: number): Buffer[] =>
  (fields.get(number) ?? []).filter((value) => typeof value !== "bigint");

export const text = (fields: Fields, number: number): string => bytes(fields, number).at(-1)?.toString("utf8") ?? "";

export const hex = (fields: Fields, number: number): string => bytes(fields, number).at(-1)?.toString("hex") ?? "";

/** The last value counts; a field left out is zero. */
export const integer = (fields: Fields, number: number): bigint => {
  const value = fields.get(number)?.at(-1);
  return typeof value === "bigint" ? value : 0n;
};
