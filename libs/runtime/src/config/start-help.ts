/** The text to print instead of a start when `--help` is among the arguments; null when it is not. */
export function startHelp(command: string, argv: readonly string[]): string | null {
  if (!argv.includes("--help") && !argv.includes("-h")) return null;
  return `Usage: ${command} [--<property>=<value> …]

Options:
  --<property>=<value>         sets a property; docs/reference/properties.md lists them
  --profile=<name>             also reads signalbox.<name>.yaml
  --config-directory=<folder>  the folder of signalbox.yaml, instead of the current one

Example:
  ${command} --http.port=9000
`;
}
