import { masked, maskText } from "@signalbox/core";

/** Names whose values are never written. Wider words (`key`, `token_count`) are ordinary fields of a line. */
const secretField =
  /(?:passwords?|passwd|passphrase|secrets?|tokens?|credentials?|signatures?)$|^(?:proxy[-_])?authorization$|cookie$|(?:api|private|secret|signing|access|encryption|master|sealing)[-_.]?keys?$/i;

// Lines repeat a few names: remembering the result is ten times as fast as the expression.
const remembered = new Map<string, boolean>();

function isSecretField(name: string): boolean {
  const known = remembered.get(name);
  if (known !== undefined) return known;
  const isSecret = secretField.test(name);
  if (remembered.size < 1000) remembered.set(name, isSecret);
  return isSecret;
}

const depthMax = 6;
const itemsMax = 100;

/**
 * Copies the fields for a log line: secrets removed by name and by form, errors expanded, depth bounded. Names of
 * fields are written as `request_id`, in any spelling of the code, so that one search finds all lines.
 */
export function redactFields(fields: object): Record<string, unknown> {
  if (fields instanceof Error) return { error: redactError(fields, 0) };
  return redactObject(fields, 0, lineName);
}

const lineNames = new Map<string, string>();

function lineName(name: string): string {
  const known = lineNames.get(name);
  if (known !== undefined) return known;
  const spelled = name.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (lineNames.size < 1000) lineNames.set(name, spelled);
  return spelled;
}

function redactValue(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case "string":
      return maskText(value);
    case "bigint":
      return String(value);
    case "object":
      break;
    case "function":
    case "symbol":
      return undefined;
    default:
      return value;
  }
  if (value === null) return null;
  if (value instanceof Error) return redactError(value, depth);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth >= depthMax) return "[deeper]";
  if (value instanceof Map) return redactObject(Object.fromEntries(value), depth);
  if (value instanceof Set) return redactValue([...value], depth);
  if (Array.isArray(value)) return value.slice(0, itemsMax).map((item) => redactValue(item, depth + 1));
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === "function") return redactValue(toJSON.call(value), depth + 1);
  return redactObject(value, depth + 1);
}

function redactObject(value: object, depth: number, nameOf?: (name: string) => string): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  let left = itemsMax;
  for (const name of Object.keys(value)) {
    if (left-- === 0) break;
    const field = (value as Readonly<Record<string, unknown>>)[name];
    // A number or a boolean under such a name reveals nothing.
    const isHidden = field != null && typeof field !== "number" && typeof field !== "boolean" && isSecretField(name);
    copy[nameOf === undefined ? name : nameOf(name)] = isHidden ? masked : redactValue(field, depth);
  }
  return copy;
}

/** Keeps only known fields of an error: others, like a database's `detail`, contain personal data. */
function redactError(error: Error, depth: number): Record<string, unknown> {
  const { code } = error as { code?: unknown };
  const errors = error instanceof AggregateError ? error.errors.slice(0, 5) : undefined;
  const copy: Record<string, unknown> = { type: error.name, message: maskText(error.message) };
  if (typeof code === "string") copy.code = maskText(code);
  if (error.stack !== undefined) copy.stack = maskText(error.stack);
  if (depth >= depthMax) return copy;
  if (error.cause !== undefined) copy.cause = redactValue(error.cause, depth + 1);
  if (errors) copy.errors = errors.map((one) => redactValue(one, depth + 1));
  return copy;
}
