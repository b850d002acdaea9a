import { namedBoxes } from "./rendition.ts";

/** Names of transformations. They stand in URLs, beside those of the named variants. */
export const transformationName = /^[a-z][a-z0-9-]{0,31}$/;

/** Returns true for a name that an owner may give to a transformation: those of the named variants are taken. */
export const isTransformationName = (name: string): boolean =>
  transformationName.test(name) && !Object.hasOwn(namedBoxes, name);

/** Parameters of a request that may stand beside the name of a transformation. */
const besideTransformation: ReadonlySet<string> = new Set(["transformation", "format", "dpr", "v", "signature"]);

/** Finds the first parameter that must not stand beside the name of a transformation. */
export const strayParameter = (names: Iterable<string>): string | undefined =>
  [...names].find((name) => !besideTransformation.has(name));

/** Computes the version of an image in the form of a transformation: it changes with either of them. */
export const transformedVersion = (imageVersion: string, transformationVersion: number): string =>
  `${imageVersion}-${transformationVersion}`;

type Parameters = Readonly<Record<string, string>>;

/** Builds the parameters of a request with a transformation: those of its form, as text, and over them its own. */
export function transformedParameters(form: object, given: Parameters): Parameters {
  const members = Object.entries(form).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(members.map(([name, value]) => [name, `${value}`])), ...given };
}
