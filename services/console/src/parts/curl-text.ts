interface Call {
  readonly method?: string;
  /** Path below the address of the deployment, without a slash in front. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** JSON that is written as a text is sent as it is. */
  readonly body?: unknown;
}

/** Writes the curl of a call. The key is a variable of the shell: a credential is never shown. */
export function curlText(base: string, { method = "GET", path, query = {}, body }: Call): string {
  const url = new URL(path, base);
  for (const [name, value] of Object.entries(query)) if (value) url.searchParams.set(name, value);
  const parts = [
    "curl -s",
    ...(method === "GET" ? [] : [`-X ${method}`]),
    '-H "X-API-Key: $SIGNALBOX_API_KEY"',
    ...(body === undefined
      ? []
      : [
          "-H 'Content-Type: application/json'",
          `-d ${quoted(typeof body === "string" ? body : JSON.stringify(body))}`,
        ]),
    quoted(url.href),
  ];
  return parts.join(" ");
}

/** A word of a POSIX shell, whatever is in it. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
