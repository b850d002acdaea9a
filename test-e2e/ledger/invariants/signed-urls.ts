import type { Evidence, Invariant } from "../evidence.ts";
import type { Operation } from "../history.ts";
import { endsWithinMs, excused, operations, possible, succeeded } from "./look-up.ts";

export const signedUrlsHold: Invariant = {
  name: "signed-urls-hold",
  sentence: "A signed URL shows its image until its key was rotated away, and nothing two seconds after that.",
  violations: (evidence) => [...openedAfterTheEnd(evidence), ...refusedBefore(evidence)],
};

/** A rotation leaves two keys: its own, and the one before it. */
function openedAfterTheEnd(evidence: Evidence): string[] {
  const rotations = succeeded(evidence, "rotate-signing-key");
  const endOf = ({ value }: Operation) =>
    rotations.find(
      ({ invokedAt, answer }) => invokedAt > value.signedAt && ![answer.key, answer.former].includes(value.key),
    );
  return operations(evidence, "open-url").flatMap((open) => {
    const end = open.answer.verdict === "let in" ? endOf(open) : undefined;
    if (!end || open.invokedAt <= excused(evidence, end.endedAt, endsWithinMs)) return [];
    const afterMs = Math.round(open.invokedAt - end.endedAt);
    return [`${open.value.instance} took a URL of ${open.value.key} ${afterMs} ms after the key was gone`];
  });
}

/** A key stays valid for one rotation after its own. An unanswered rotation may have happened at any time. */
function refusedBefore(evidence: Evidence): string[] {
  const rotations = possible(evidence, "rotate-signing-key");
  return operations(evidence, "open-url")
    .filter(({ value, answer, endedAt }) => {
      if (answer.verdict !== "refused") return false;
      const own = rotations.find((rotation) => rotation.answer.key === value.key);
      const later = rotations.filter(
        (one) =>
          one !== own && one.invokedAt < endedAt && (one.outcome === "info" || one.invokedAt > (own?.endedAt ?? 0)),
      );
      return later.length < 2;
    })
    .map(({ value }) => `${value.instance} refused a URL of ${value.key}, which holds`);
}
