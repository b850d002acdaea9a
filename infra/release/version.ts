import type { ContractChange } from "./contract-changes.ts";

export type Step = "major" | "minor" | "patch";

/** The smallest step that tells the truth: before 1.0.0 a break takes the second number. */
export function stepFor(version: string, changes: readonly ContractChange[]): Step {
  const isEarly = version.startsWith("0.");
  if (changes.some(({ weight }) => weight === "breaking")) return isEarly ? "minor" : "major";
  if (changes.some(({ weight }) => weight === "addition")) return isEarly ? "patch" : "minor";
  return "patch";
}

/** The version that comes after this one by a step. */
export function nextVersion(version: string, step: Step): string {
  const [major = 0, minor = 0, patch = 0] = numbersOf(version);
  if (step === "major") return `${major + 1}.0.0`;
  return step === "minor" ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}

/** Returns true when `version` is `least` or later. */
export function isAtLeast(version: string, least: string): boolean {
  const [these, those] = [numbersOf(version), numbersOf(least)];
  const index = these.findIndex((number, place) => number !== those[place]);
  return index < 0 || (these[index] as number) > (those[index] as number);
}

const form = /^(\d+)\.(\d+)\.(\d+)$/;

function numbersOf(version: string): number[] {
  const [, ...numbers] = form.exec(version) ?? [];
  if (numbers.length === 0) throw new Error(`${version} is no version: three numbers, such as 1.4.0.`);
  return numbers.map(Number);
}
