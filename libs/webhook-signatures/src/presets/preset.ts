import type { DeliveryIdPlace } from "../schemes/delivery-id-place.ts";
import type { SchemeName, SchemeOptions } from "../schemes/schemes.ts";
import type { Handshake, ValuePlace } from "../schemes/signature-scheme.ts";

/** Settings of a source for one sender. */
interface PresetSettings extends Partial<SchemeOptions> {
  readonly deliveryIdFrom?: DeliveryIdPlace;
  /** Of several places the first with a value counts. */
  readonly eventTypeFrom?: ValuePlace | readonly ValuePlace[];
  readonly forwardedHeaders?: readonly string[];
  readonly handshake?: Handshake;
  readonly keepRejectedBodies?: boolean;
  readonly acceptShortSecret?: boolean;
  /** True for a sender that may send a webhook as GET, with its members in the query. */
  readonly acceptGet?: boolean;
  /** Larger than the service's for a sender whose retries keep the first time. */
  readonly toleranceSeconds?: number;
  /** 0 for a sender whose notifications are equal by design. */
  readonly refuseSameContentSeconds?: number;
  /** `id_and_content` for a signed id that names a subject, or the first event of a batch. */
  readonly repetitionBy?: "id" | "id_and_content";
  /** Answer that the sender expects to an accepted webhook. */
  readonly answer?: { readonly status: 200 | 202 | 204; readonly body?: string };
}

/** A request of the sender that verifies with its secret. */
interface PresetVector {
  /**
   * `library`: signed by the sender's own library, or in its tests. `published`: an example of the sender's
   * documentation. `computed`: signed by the documented rule, without our library.
   */
  readonly made: "library" | "published" | "computed";
  /** Publisher of the vector, or how it was made when the sender publishes only a recipe. */
  readonly from: string;
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Settings of the owner's own that the request verifies with. */
  readonly settings?: PresetSettings;
  /** The certificate that the request names, in PEM; made for the request. */
  readonly certificate?: string;
  /** URL that the sender posted to, if it signs that. */
  readonly url?: string;
  /** Time of the signature. */
  readonly atSeconds: number;
}

/** A request that is signed by the documented rule, at the one time of all these requests. */
export const computed = (request: Omit<PresetVector, "made" | "atSeconds">): PresetVector => ({
  made: "computed",
  ...request,
  atSeconds: 1_700_000_000,
});

/** A preset with the date of the documentation that it follows, which is its version. */
export interface KnownPreset extends Preset {
  readonly documentedOn: string;
}

/** A sender as data: its scheme, the places of its data, and a request that must verify. */
export interface Preset {
  /** Display name. */
  readonly title: string;
  /** URL of the sender's documentation of its signatures. */
  readonly documentation: string;
  /** Date of the documentation that the entry follows, if it changed since all were read. A change of `settings` has one. */
  readonly documentedOn?: string;
  readonly scheme: SchemeName;
  readonly settings: PresetSettings;
  /** Settings that only the owner knows and a source must have, with what each is. */
  readonly ownerSettings?: Readonly<Partial<Record<keyof PresetSettings, string>>>;
  /** Place where the owner finds the secret. */
  readonly secretFrom: string;
  /** Steps at the sender, once the source exists. */
  readonly steps: readonly string[];
  /** Known traps and other notes for the owner, a sentence or two each. */
  readonly notes: readonly string[];
  /** The sender's schedule of retries. */
  readonly retries: string;
  /** The key that opens the sender's own list of what it sent, where its documentation has one. */
  readonly readKey?: {
    readonly sender: "github" | "stripe";
    /** Place where the owner makes the key, and what it has to permit. */
    readonly from: string;
    /** Age of the oldest webhook in the list. */
    readonly keeps: string;
  };
  readonly vector: PresetVector;
}
