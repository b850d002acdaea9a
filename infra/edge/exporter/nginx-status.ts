/** The figures of nginx's `stub_status`. */
export interface NginxStatus {
  readonly active: number;
  readonly reading: number;
  readonly writing: number;
  readonly waiting: number;
  /** Since nginx started. */
  readonly accepted: number;
  readonly handled: number;
}

/** Reads the page; null when nginx does not answer with it in time. */
export async function readNginxStatus(url: string, timeoutMs: number): Promise<NginxStatus | null> {
  const signal = AbortSignal.timeout(timeoutMs);
  const text = await fetch(url, { signal, redirect: "error" })
    .then((answer) => answer.text())
    .catch(() => "");
  const figures =
    /^Active connections: (\d+)\s+server accepts handled requests\s+(\d+) (\d+) \d+\s+Reading: (\d+) Writing: (\d+) Waiting: (\d+)/.exec(
      text,
    );
  if (figures === null) return null;
  const [active, accepted, handled, reading, writing, waiting] = figures.slice(1).map(Number) as [
    ...[number, number, number, number, number, number],
  ];
  return { active, accepted, handled, reading, writing, waiting };
}
