import type { DeliveryIdPlace } from "../delivery-id-place.ts";
import type { SchemeName, SchemeOptions } from "../schemes.ts";
import type { Handshake } from "../signature-scheme.ts";

/** The settings of a source that takes webhooks of one sender. */
interface PresetSettings extends Partial<SchemeOptions> {
  readonly deliveryIdFrom?: DeliveryIdPlace;
  readonly eventTypeFrom?: Exclude<DeliveryIdPlace, "digest">;
  readonly forwardedHeaders?: readonly string[];
  readonly handshake?: Handshake;
}

/** A request of the sender that verifies, with its secret. */
interface PresetVector {
  /** Who published it; or how it was made, where the sender publishes a recipe and no numbers. */
  readonly from: string;
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The address that the sender posted to, where it signs that. */
  readonly url?: string;
  /** When it was signed. */
  readonly atSeconds: number;
}

/** A sender as data: how it signs, where it says what, and a request of it to hold us against. */
export interface Preset {
  /** The name for people. */
  readonly title: string;
  /** The sender's own words about its signatures. */
  readonly documentation: string;
  readonly scheme: SchemeName;
  readonly settings: PresetSettings;
  /** Where the owner finds what the sender signs with. */
  readonly secretFrom: string;
  /** What to do at the sender, once the source is there. */
  readonly steps: readonly string[];
  /** What else the owner should know, a sentence each. */
  readonly notes: readonly string[];
  readonly vector: PresetVector;
}
