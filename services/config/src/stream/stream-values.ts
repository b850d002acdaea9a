import type { Properties } from "@signalbox/config-service/properties";
import { type Audience, publishedProperties } from "@signalbox/contracts";
import { masked } from "@signalbox/core";
import type { Configuration } from "@signalbox/runtime";
import type { AppliedReports } from "../state/applied-reports.ts";
import type { PropertyCatalogue } from "../state/property-catalogue.ts";
import type { PublishedConfiguration } from "../state/published-configuration.ts";

/** The current values of properties, as the stream sends them. */
export class StreamValues {
  readonly #configuration: Configuration<Properties>;
  readonly #catalogue: PropertyCatalogue;
  readonly #published: PublishedConfiguration;
  readonly #reports: AppliedReports;

  constructor(
    configuration: Configuration<Properties>,
    catalogue: PropertyCatalogue,
    published: PublishedConfiguration,
    reports: AppliedReports,
  ) {
    this.#configuration = configuration;
    this.#catalogue = catalogue;
    this.#published = published;
    this.#reports = reports;
  }

  /** Returns the property of an override's name; an undeclared name is returned unchanged. */
  propertyOf(name: string): string {
    try {
      return this.#catalogue.target(name).property;
    } catch {
      return name;
    }
  }

  /** Returns the declared audience of a property. */
  audienceOf(name: string): Audience {
    return this.#catalogue.audienceOf(name);
  }

  /** Returns true for a property of `/api/v1/config/`. */
  isPublished(name: string): boolean {
    return Object.hasOwn(publishedProperties, name);
  }

  /** Returns the value of a property; null for one that is masked. */
  property(name: string): unknown {
    if (this.isPublished(name)) {
      const [member = "", key = ""] = name.split(".");
      const resource = this.#published.current().resource as unknown as Record<string, Record<string, unknown>>;
      return resource[member]?.[key];
    }
    const elsewhere = () => this.#reports.alive().find(({ report }) => report.values?.[name])?.report.values?.[name];
    const value = (this.#configuration.runningValues()[name] ?? elsewhere())?.value ?? null;
    return value === masked ? null : value;
  }

  /**
   * Settles once the instances agree on these properties, or after a time limit. While a change rolls out the strictest
   * value is published, and one event should announce the final one.
   */
  settled(names: readonly string[], waitMs: number): Promise<void> {
    const agree = () => !this.#published.current().disagreements.some((name) => names.includes(name));
    return this.#reports.until(agree, waitMs);
  }
}
