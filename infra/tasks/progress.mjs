/** Time between two reports of progress. A terminal's line is overwritten; elsewhere each report is a line of its own. */
const everyMs = process.stderr.isTTY ? 250 : 2500;

/**
 * Shows a step while it works: what it does, how far it is and how long it has taken. Nothing is silent for more than 3 s.
 *
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} work
 * @param {() => string} [howFar] such as `12 of 300`
 * @returns {Promise<T>}
 */
export async function withProgress(name, work, howFar = () => "") {
  const startedMs = performance.now();
  const line = () => {
    const seconds = `${Math.round((performance.now() - startedMs) / 1000)} s`;
    return `${name}: ${[howFar(), seconds].filter(Boolean).join(", ")}`;
  };
  show(`${name} …`);
  const timer = setInterval(() => show(line()), everyMs);
  try {
    const result = await work();
    show(line());
    return result;
  } finally {
    clearInterval(timer);
    if (process.stderr.isTTY) process.stderr.write("\n");
  }
}

function show(line) {
  process.stderr.write(
    process.stderr.isTTY ? `\r\x1b[K${line.slice(0, (process.stderr.columns || 80) - 1)}` : `${line}\n`,
  );
}
