/** What a label value becomes once a metric has too many combinations. */
const overflowValue = "other";

type LabelValues = Readonly<Record<string, string>>;

/**
 * Bounds the combinations of label values of one metric: a label that takes a client's text must not fill the memory.
 * Combinations seen first keep their values; later ones are counted together under `other`.
 */
export function createLabelGuard(
  names: readonly string[],
  combinationsMax: number,
): (labels: LabelValues) => LabelValues {
  const seen = new Set<string>();
  const overflow = Object.fromEntries(names.map((name) => [name, overflowValue]));
  return (labels) => {
    if (names.length === 0) return labels;
    const combination = names.map((name) => labels[name]).join("\u0000");
    if (seen.has(combination)) return labels;
    if (seen.size >= combinationsMax) return overflow;
    seen.add(combination);
    return labels;
  };
}
