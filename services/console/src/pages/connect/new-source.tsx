import type { WebhookPresetInFull } from "@signalbox/client";
import { useRef } from "react";
import { type FieldsData, Form } from "../../parts/form.tsx";
import { Prose } from "../../parts/inline.tsx";
import parts from "../../parts/parts.module.css";
import { api } from "../../session/api.ts";
import { settingsOf } from "../source/source-input.ts";
import type { Source } from "../sources.ts";
import styles from "./connect.module.css";
import { isChosenByOwner, newSecret } from "./new-secret.ts";

const schemes = ["hmac", "standard-webhooks", "token", "ed25519", "jwt"] as const;
/** Origin of the secret: made here, known already, or shown by the sender once its webhook exists. */
type From = "made" | "known" | "later";

interface NewSourceInput {
  readonly name: string;
  readonly from: From;
  readonly secret: string;
  readonly verifyToken: string;
  readonly scheme: (typeof schemes)[number];
  readonly settings: string;
  readonly keepRejected: boolean;
}

interface NewSourceProps {
  /** Null for a sender without a preset. */
  readonly preset: WebhookPresetInFull | null;
  readonly onDone: (source: Source, secret: string | null, isLater: boolean) => void;
}

/** Makes the source of a sender. */
export function NewSource({ preset, onDone }: NewSourceProps) {
  // One secret for the form: after a lost answer the same content is sent again.
  const made = useRef<Record<string, string | null>>({});
  const create = async (input: NewSourceInput) => {
    made.current[input.scheme] ??= newSecret(signedAs(preset, input));
    const secret = input.from === "known" ? input.secret.trim() : ofHere(made.current[input.scheme] ?? null);
    const body = bodyOf(preset, input, secret) as never;
    const source = await api.webhookSources.create(body);
    return { source, secret: input.from === "made" ? secret : null, isLater: input.from === "later" };
  };
  return (
    <Form
      what="source"
      submitLabel="Create the address"
      kind="main"
      initial={emptyInput(preset)}
      fields={(input) => fieldsOf(preset, input)}
      run={create}
      onDone={({ source, secret, isLater }) => onDone(source, secret, isLater)}
    />
  );
}

function emptyInput(preset: WebhookPresetInFull | null): NewSourceInput {
  const own = Object.fromEntries(preset?.owner_settings.map(({ name }) => [name, ""]) ?? []);
  return {
    name: preset?.title ?? "",
    from: preset === null || isChosenByOwner(preset.secret) ? "made" : "known",
    secret: "",
    verifyToken: "",
    scheme: "hmac",
    settings: Object.keys(own).length === 0 ? "" : JSON.stringify(own, null, 2),
    keepRejected: true,
  };
}

const signedAs = (preset: WebhookPresetInFull | null, { scheme }: Pick<NewSourceInput, "scheme">) =>
  preset ?? { scheme, settings: {} };

/** @throws Error where only the sender can have the secret */
function ofHere(secret: string | null): string {
  if (secret === null) throw new Error("Secret: this sender signs with a key of its own. Enter its public key.");
  return secret;
}

function bodyOf(preset: WebhookPresetInFull | null, input: NewSourceInput, secret: string) {
  return {
    name: input.name.trim(),
    secret,
    ...(preset ? { preset: preset.name } : { scheme: input.scheme }),
    ...(input.verifyToken !== "" && { verify_token: input.verifyToken.trim() }),
    settings: { ...settingsOf(input.settings), keep_rejected_bodies: input.keepRejected },
  };
}

function fieldsOf(preset: WebhookPresetInFull | null, input: NewSourceInput): FieldsData<NewSourceInput> {
  const choices = secretChoices(preset, input);
  const isKnown = input.from === "known" || choices.length === 1;
  return {
    name: { label: "Name", hint: "For you; the sender does not see it.", required: true },
    scheme: preset === null && {
      label: "Signature scheme",
      hint: "hmac: signs the request with a shared secret. token: only sends the secret.",
      choices: schemes,
    },
    from: (bound) => (
      <fieldset className={styles.choices}>
        <legend>Source of the secret</legend>
        {preset && (
          <p className={parts.quiet}>
            <Prose text={preset.secret} />
          </p>
        )}
        {choices.map(([from, text]) => (
          <label key={from} className={parts.check}>
            <input
              type="radio"
              name="secret-from"
              checked={isKnown ? from === "known" : from === input.from}
              onChange={() => bound.set(from)}
            />
            {text}
          </label>
        ))}
      </fieldset>
    ),
    secret: isKnown && {
      label: "Secret",
      hint: "Exactly as the sender shows it, without spaces around it.",
      required: true,
      isSecret: true,
    },
    verifyToken: preset?.settings.handshake === "meta" && {
      label: "Verify token",
      hint: "8 characters or more of your choice; enter the same one at the sender.",
      required: true,
      minLength: 8,
      isSecret: true,
    },
    settings: (preset === null || preset.owner_settings.length > 0) && {
      label: "Settings",
      hint: settingsHint(preset),
      rows: 5,
    },
    keepRejected: { label: "Keep rejected webhooks, so that none is lost while something is wrong" },
  };
}

const settingsHint = (preset: WebhookPresetInFull | null): string =>
  preset === null
    ? 'A JSON object, such as {"signature_header": "x-signature"}. Empty: the defaults of the scheme.'
    : preset.owner_settings.map(({ name, description }) => `${name}: ${description}`).join(" ");

const allChoices: ReadonlyArray<readonly [From, string]> = [
  ["made", "Generate one; I enter it at the sender"],
  ["known", "I have one"],
  ["later", "The sender shows it once its webhook exists; I enter it then"],
];

/** A key of the sender's own can only be known. */
const secretChoices = (preset: WebhookPresetInFull | null, input: NewSourceInput) =>
  newSecret(signedAs(preset, input)) === null ? allChoices.filter(([from]) => from === "known") : allChoices;
