import { dateInput } from "@signalbox/contracts";
import { z } from "zod";

type Bound = number | (() => number);
const boundOf = (bound: Bound): number => (typeof bound === "number" ? bound : bound());

/**
 * Declares a query parameter that is a whole number in plain decimal digits. A bound that is a function is evaluated
 * each time.
 */
export function integerParameter({ min, max }: { readonly min: Bound; readonly max: Bound }) {
  const documented = () => ({ type: "integer" as const, minimum: boundOf(min), maximum: boundOf(max) });
  const text = z.string().meta({ override: ({ jsonSchema }) => void Object.assign(jsonSchema, documented()) });
  return text.transform((text, context) => {
    const number = /^-?(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
    if (number >= boundOf(min) && number <= boundOf(max)) return number;
    context.addIssue({
      code: "custom",
      message: `Must be a whole number from ${boundOf(min)} to ${boundOf(max)}.`,
      params: { code: "out_of_range" },
    });
    return z.NEVER;
  });
}

/** Declares a query parameter that is `true` or `false`. A boolean passes too: the graph has it as an argument. */
export function booleanParameter() {
  const text = z.enum(["true", "false"]).transform((text) => text === "true");
  return z.preprocess((given) => (typeof given === "boolean" ? String(given) : given), text);
}

/**
 * Declares a query parameter that is an RFC 3339 time. A space before the offset is a plus sign that was not written as
 * `%2B`.
 */
export function timeParameter() {
  const text = z.string().meta({ format: "date-time" });
  return text.overwrite((given) => given.replace(/ (?=\d\d:\d\d$)/, "+")).pipe(dateInput);
}

/** Builds a refinement that refuses members such as `overlay_width` where their leader, `overlay`, is absent. */
export function requireLeader(leader: string) {
  return (given: object, { addIssue }: z.RefinementCtx): void => {
    const members = Object.entries(given).filter(([, value]) => value !== undefined);
    if (members.some(([name]) => name === leader)) return;
    for (const [name] of members) {
      if (!name.startsWith(`${leader}_`)) continue;
      addIssue({ code: "custom", path: [name], message: `Needs \`${leader}\`.`, params: { code: "invalid" } });
    }
  };
}

/** Declares a query parameter with a text to search for. */
export const textParameter = () => z.string().min(1).max(100).normalize("NFC");

/** Declares a query parameter that names what an answer shows besides, such as `event,last_attempt`. */
export function expandParameter<const Name extends string>(names: readonly [Name, ...Name[]]) {
  const known: ReadonlySet<string> = new Set(names);
  return z.string().transform((text, context) => {
    const given = text.split(",");
    if (given.every((name) => known.has(name))) return new Set(given as Name[]);
    context.addIssue({ code: "custom", message: `Must be a list, with commas, of ${names.join(" and ")}.` });
    return z.NEVER;
  });
}
