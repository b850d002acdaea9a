import { variableName } from "./addresses.ts";

/** Names that say where to look for properties and so cannot be properties themselves. */
export const startNames: readonly string[] = ["profile", "config-directory"];

/** What decides which files are read: `--profile` or SIGNALBOX_PROFILE, `--config-directory` or SIGNALBOX_CONFIG_DIRECTORY. */
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
