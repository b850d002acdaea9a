import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTrial } from "../../parts/trial.tsx";
import { definitionOf, type FlagDefinition, setFlag } from "./flag.ts";
import { type FlagInput, inputOf, readFlag } from "./flag-input.ts";

/** A flag with the revision that was seen; "0" for one that is not there. */
export interface SeenFlag {
  readonly flag: FlagDefinition;
  readonly revision: string;
}

/** The definition before a change, so that it can be taken back. */
export interface Past {
  readonly definition: FlagDefinition;
  readonly reason: string;
}

export const views = ["Form", "JSON"] as const;
export type View = (typeof views)[number];

/** The typed flag in the view in which it is typed. */
interface Draft {
  readonly view: View;
  readonly input: FlagInput;
  readonly text: string;
}

const notValid = new Error("Definition: invalid flag.");

/** The form of a flag: what is typed, the flag as it was seen, and the requests about it. */
export function useFlagForm({ flag, revision }: SeenFlag) {
  const navigate = useNavigate();
  const [draft, setDraft] = useState<Draft>(() => ({ view: "Form", input: inputOf(flag), text: textOf(flag) }));
  const [viewError, setViewError] = useState<Error | null>(null);
  const [reason, setReason] = useState("");
  const [seen, setSeen] = useState<SeenFlag>({ flag, revision });
  const [past, setPast] = useState<Past | null>(null);
  const isNew = seen.revision === "0";
  const wanted = () => (draft.view === "JSON" ? parsed(draft.text) : readFlag(draft.input));
  const trial = useTrial(
    async () => {
      const definition = wanted();
      await setFlag(definition, { expectedRevision: seen.revision, reason, isDryRun: true });
      return definition;
    },
    async (on: SeenFlag) => ({
      ...(await setFlag(wanted(), { expectedRevision: on.revision, reason })),
      before: on.flag,
    }),
    ({ flag: saved, before }) => {
      if (!saved) return;
      if (!isNew) setPast({ definition: definitionOf(before), reason });
      setSeen({ flag: saved, revision: saved.revision });
      setReason("");
      if (isNew) void navigate({ to: "/flags/$key", params: { key: saved.key }, replace: true });
    },
  );
  const become = (next: Draft) => {
    setDraft(next);
    setViewError(null);
    trial.reset();
  };
  return {
    draft,
    edit: (changed: Partial<FlagInput>) => become({ ...draft, input: { ...draft.input, ...changed } }),
    editText: (text: string) => become({ ...draft, text }),
    load: (definition: FlagDefinition) => become({ ...draft, input: inputOf(definition), text: textOf(definition) }),
    /** Shows what is typed in another view; what cannot be shown there stays where it is, with the reason. */
    show(view: View) {
      try {
        const definition = wanted();
        become({ view, input: inputOf(definition), text: textOf(definition) });
      } catch (cause) {
        setViewError(cause instanceof TypeError ? notValid : (cause as Error));
      }
    },
    reason,
    setReason,
    seen,
    setSeen,
    past,
    setPast,
    isNew,
    wanted,
    trial: { ...trial, error: trial.error ?? viewError },
    /** Goes on from the flag as it is now, which somebody else has set. */
    lookAgain() {
      setSeen({ flag, revision });
      trial.reset();
    },
  };
}

export type FlagForm = ReturnType<typeof useFlagForm>;

function textOf(flag: FlagDefinition): string {
  const { salt, ...definition } = definitionOf(flag);
  return JSON.stringify(salt ? { ...definition, salt } : definition, null, 2);
}

/** @throws Error for what is no JSON */
function parsed(text: string): FlagDefinition {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`Definition: this is not JSON. ${(error as Error).message}`);
  }
}
