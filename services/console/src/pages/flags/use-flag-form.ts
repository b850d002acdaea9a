import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { jsonIn } from "../../parts/read-text.ts";
import { useTrialEdit } from "../../parts/trial-edit.tsx";
import { definitionOf, type Flag, type FlagDefinition, setFlag } from "./flag.ts";
import { type FlagInput, inputOf, readFlag } from "./flag-input.ts";

/** A flag with the revision that was seen; "0" for one that is not there. */
export interface SeenFlag {
  readonly flag: FlagDefinition;
  readonly revision: string;
}

export const views = ["Form", "JSON"] as const;
type View = (typeof views)[number];

/** Writes a flag into the form. @throws TypeError for JSON that is no flag */
export const draftOf = (flag: FlagDefinition, view: View = "Form", reason = "") => ({
  view,
  form: inputOf(flag) as FlagInput,
  text: textOf(flag),
  reason,
});

/** The typed flag in the view in which it is typed, and the reason of its change. */
type FlagDraft = Readonly<ReturnType<typeof draftOf>>;

/** Reads the flag that was typed. @throws Error that names the field */
const wantedOf = ({ view, form, text }: FlagDraft): FlagDefinition =>
  view === "JSON" ? (jsonIn(text, "Definition") as FlagDefinition) : readFlag(form);

const notValid = new Error("Definition: invalid flag.");

/** The form of a flag: what is typed, the flag as it was seen, and the requests about it. */
export function useFlagForm(now: SeenFlag, name: string) {
  const navigate = useNavigate();
  const [unshown, setUnshown] = useState<{ readonly input: FlagDraft; readonly error: Error } | null>(null);
  const edit = useTrialEdit({
    name,
    initial: draftOf(now.flag),
    now,
    async tryIt(draft, { revision: expectedRevision }: SeenFlag) {
      const definition = wantedOf(draft);
      await setFlag(definition, { expectedRevision, reason: draft.reason, isDryRun: true });
      return definition;
    },
    make: (draft, { revision: expectedRevision }) =>
      setFlag(wantedOf(draft), { expectedRevision, reason: draft.reason }),
    onMade({ flag }, sent, on) {
      const saved = seenAs(flag, on);
      const before = definitionOf(on.flag);
      const isNew = on.revision === "0";
      const leave = () => void navigate({ to: "/flags/$key", params: { key: saved.flag.key }, replace: true });
      const takeBack = async () => {
        const undone = { expectedRevision: saved.revision, reason: `Undone: ${sent.reason}` };
        return { input: draftOf(before, sent.view), on: seenAs((await setFlag(before, undone)).flag, saved) };
      };
      const next = { input: { ...sent, reason: "" }, on: saved };
      return isNew ? { next, takeBack: null, leave } : { next, takeBack };
    },
  });
  const { input, trial } = edit;
  const error = trial.error ?? (unshown?.input === input ? unshown.error : null);
  return {
    ...edit,
    trial: { ...trial, error },
    isNew: edit.on.revision === "0",
    wanted: () => wantedOf(input),
    /** Goes on from another definition. */
    load: (flag: FlagDefinition, reason = input.reason) =>
      edit.begin({ input: draftOf(flag, input.view, reason), on: edit.on }),
    /** Shows what is typed in another view; what cannot be shown there stays where it is, with the reason. */
    show(view: View) {
      try {
        edit.look(draftOf(wantedOf(input), view, input.reason));
      } catch (cause) {
        setUnshown({ input, error: cause instanceof TypeError ? notValid : (cause as Error) });
      }
    },
  };
}

export type FlagForm = ReturnType<typeof useFlagForm>;

const seenAs = (flag: Flag | null, otherwise: SeenFlag): SeenFlag =>
  flag ? { flag, revision: flag.revision } : otherwise;

function textOf(flag: FlagDefinition): string {
  const { salt, ...definition } = definitionOf(flag);
  return JSON.stringify(salt ? { ...definition, salt } : definition, null, 2);
}
