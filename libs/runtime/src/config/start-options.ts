import { variableName } from "./addresses.ts";

/** Names that locate the sources of properties and therefore cannot be properties themselves. */
export const startNames: readonly string[] = ["profile", "config-directory"];

/**
 * Reads `--profile` or SIGNALBOX_PROFILE and `--config-directory` or SIGNALBOX_CONFIG_DIRECTORY: they choose the files.
 */
export function startOptions(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): { profile: string | undefined; directory: string | undefined } {
  const given = (name: string) => {
    const argument = argv.find((text) => text.startsWith(`--${name}=`));
    return (argument?.slice(name.length + 3) ?? environment[variableName(name)]) || undefined;
  };
  return { profile: given("profile"), directory: given("config-directory") };
}
