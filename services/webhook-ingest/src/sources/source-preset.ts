import { isDeepStrictEqual } from "node:util";
import { type KnownPreset, presets } from "@signalbox/webhook-signatures";
import type { Source, SourceTerms } from "./source.ts";
import type { SourceSettings } from "./source-settings.ts";

/** Finds a preset by its name; null for one that this version of the service does not know. */
const findPreset = (name: string | null): KnownPreset | null =>
  name !== null && Object.hasOwn(presets, name) ? presets[name as keyof typeof presets] : null;

/** Returns the settings that a source has from its preset, and from nobody else. */
export const presetSettingsOf = (preset: string | null): SourceSettings => findPreset(preset)?.settings ?? {};

interface PresetRow extends SourceTerms {
  /** The settings that this version of the preset gave. */
  readonly presetSettings: SourceSettings | null;
}

/** Returns the columns of the preset that a source follows, in the version that it has now. */
export const presetColumns = ({ preset, presetVersion }: Source) => ({
  preset,
  presetVersion,
  presetSettings: preset === null ? null : presetSettingsOf(preset),
});

/** Applies later corrections of the preset. A setting that its version did not give was changed by hand, and stays. */
export function withCorrections({ presetSettings, ...row }: PresetRow) {
  const { preset, settings } = row;
  const known = findPreset(preset);
  const presetVersion = known?.documentedOn ?? row.presetVersion;
  if (known === null || presetSettings === null || isDeepStrictEqual(presetSettings, known.settings))
    return { preset, presetVersion, settings };
  const [given, now, held] = [presetSettings, known.settings, settings] as Record<string, unknown>[];
  const names = new Set([given, now, held].flatMap((one) => Object.keys(one ?? {})));
  const corrected = [...names].flatMap((name) => {
    const value = isDeepStrictEqual(held?.[name], given?.[name]) ? now?.[name] : held?.[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { preset, presetVersion, settings: Object.fromEntries(corrected) as SourceSettings };
}
