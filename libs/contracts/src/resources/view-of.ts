import { camelCase } from "@signalbox/core";
import type { z } from "zod";

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

type OnWire<Value> = Value extends Date ? string : Value extends readonly (infer Member)[] ? Member[] : Value;

/** The members of a view that the row holds under their name in camel case. */
type Same<Row, View> = keyof {
  [K in keyof View as K extends string
    ? CamelCase<K> extends keyof Row
      ? OnWire<Row[CamelCase<K>]> extends View[K]
        ? K
        : never
      : never
    : never]: K;
};

/** A text may be given as the time that it shows. */
type Given<View> = { [K in keyof View]: string extends View[K] ? View[K] | Date : View[K] };

type Exceptions<Row, View> = Given<Omit<View, Same<Row, View>> & Partial<View>>;

/**
 * Returns the function that shows a row as its resource, its members in the order of the schema. A member comes from
 * the row, where `createdAt` is `created_at`, or from `exceptions`, which come first. A `Date` is shown as RFC 3339.
 */
export function viewOf<Resource extends z.ZodObject, Row extends object, Rest extends unknown[]>(
  resource: Resource,
  exceptions: (row: Row, ...rest: Rest) => Exceptions<NoInfer<Row>, z.output<NoInfer<Resource>>>,
): (row: Row, ...rest: Rest) => z.output<Resource> {
  const names = Object.keys(resource.shape).map((name) => [name, camelCase(name)] as const);
  return (row, ...rest) => {
    const values: Record<string, unknown> = { ...row, ...exceptions(row, ...rest) };
    const view: Record<string, unknown> = {};
    for (const [name, member] of names) {
      const value = values[name] === undefined ? values[member] : values[name];
      if (value !== undefined) view[name] = value instanceof Date ? value.toISOString() : value;
    }
    return view as z.output<Resource>;
  };
}
